use super::*;
use proptest::prelude::*;

fn octets(digits: &str) -> Vec<u8> {
    let digits: String = digits.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("digits"))
        .collect()
}

fn key(algorithm: Algorithm, long: bool) -> Vec<u8> {
    let len = match algorithm {
        Algorithm::AesGcm | Algorithm::AesGmac => 20 + 16 * usize::from(long),
        Algorithm::ChaCha20Poly1305 => 36,
        Algorithm::AesCbcSha256 => 48 + 16 * usize::from(long),
    };
    (0..len).map(|at| (at * 37 + 11) as u8).collect()
}

/// RFC 7634, appendix A: an IPv4 packet with ICMP in it, and the packet of ESP that it becomes.
#[test]
fn rfc_7634() {
    let key = octets("808182838485868788898a8b8c8d8e8f 909192939495969798999a9b9c9d9e9f a0a1a2a3");
    let text = octets(
        "45000054a6f200004001e778c6336405 c000020508005b7a3a080000553bec10 0007362708090a0b0c0d0e0f10111213
         1415161718191a1b1c1d1e1f20212223 2425262728292a2b2c2d2e2f30313233 3435363701020204",
    );
    let sealed = octets(
        "24039428b97f417e3c13753a4f05087b 67c352e6a7fab1b982d466ef407ae5c6 14ee8099d52844eb61aa95dfab4c02f7
         2aa71e7c4c4f64c9befe2facc638e8f3 cbec163fac469b502773f6fb94e664da 9165b82829f641e076aaa8266b7fb0f7
         b11b369907e1ad43",
    );
    let cipher = Cipher::new(Algorithm::ChaCha20Poly1305, &key).unwrap_or_else(|_| panic!("a key"));
    let head = Head { spi: 0x0102_0304, number: 5, extended: false };
    let mut packet = [vec![0; 16], text.clone(), vec![0; 16]].concat();
    assert!(cipher.seal(head, 0x1011_1213_1415_1617, &mut packet));
    assert_eq!(packet[..16], octets("0102030400000005 1011121314151617"));
    assert_eq!(packet[16..], sealed);
    assert!(cipher.open(head, &mut packet));
    assert_eq!(packet[16..16 + text.len()], text);
}

/// McGrew, Viega: "The Galois/Counter Mode of Operation", test cases 4 (AES-128) and 16 (AES-256), by all implementations.
#[test]
fn gcm_by_its_authors() {
    let text = octets(
        "d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72 1c3c0c95956809532fcf0e2449a6b525
         b16aedf5aa0de657ba637b39",
    );
    let data = octets("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    let nonce: [u8; 12] = octets("cafebabefacedbaddecaf888").try_into().unwrap();
    for (key, sealed, check) in [
        (
            "feffe9928665731c6d6a8f9467308308",
            "42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e 21d514b25466931c7d8f6a5aac84aa05
             1ba30b396a0aac973d58e091",
            "5bc94fbc3221a5db94fae95ae7121a47",
        ),
        (
            "feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308",
            "522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa 8cb08e48590dbb3da7b08b1056828838
             c5f61e6393ba7a0abcc9f662",
            "76fc6ece0f4e1768cddf8853bb2d551b",
        ),
    ] {
        let [sealed, key] = [sealed, key].map(octets);
        for gcm in [Gcm::new, Gcm::with_graviola, Gcm::portable].map(|make| make(&key).unwrap()) {
            let mut place = text.clone();
            assert_eq!(gcm.seal(nonce, &data, &mut place).to_vec(), octets(check));
            assert_eq!(place, sealed);
            assert!(gcm.open(nonce, &data, &mut place, octets(check).try_into().unwrap()));
            assert_eq!(place, text);
        }
    }
}

/// McGrew: "Test Cases for the use of GCM and GMAC in IPsec ESP" (draft-mcgrew-gcm-test-01): a ping that can be read.
#[test]
fn gmac_by_its_author() {
    let key = octets("4c80cdefbb5d10da906ac73c3613a634 22433c64");
    let text = octets(
        "45000030da3a00008001df3bc0a80005 c0a800010800c6cd0200070061626364 65666768696a6b6c6d6e6f7071727374
         01020201",
    );
    let cipher = Cipher::new(Algorithm::AesGmac, &key).unwrap_or_else(|_| panic!("a key"));
    let head = Head { spi: 0x4321, number: 7, extended: false };
    let mut packet = [&[0; 16], &text[..], &[0; 16]].concat();
    assert!(cipher.seal(head, 0, &mut packet));
    assert_eq!(packet[16..16 + text.len()], text);
    assert_eq!(packet[16 + text.len()..], octets("f2a9a836e155106aa8dcd618e4099aaa"));
    assert!(cipher.open(head, &mut packet));
}

/// RFC 4543, figures 3 and 4: what is authenticated is the header with all of the sequence number, the initialisation vector as Linux has it, and the text; and the
/// packet itself has only the low half of the number. The tag is that of AES-GCM without a text.
#[test]
fn gmac_has_the_whole_number() {
    let (text, number) = ([0x5a; 20], 0x0102_0304_0506_0708);
    let gcm = Gcm::portable(&[7; 16]).unwrap();
    let cipher = Cipher::new(Algorithm::AesGmac, &[[7; 16].as_slice(), &[9; 4]].concat());
    let cipher = cipher.unwrap_or_else(|_| panic!("a key"));
    for (extended, front) in [(false, "00001001 05060708"), (true, "00001001 01020304 05060708")] {
        let head = Head { spi: 0x1001, number, extended };
        let mut packet = [&[0; 16], &text[..], &[0; 16]].concat();
        assert!(cipher.seal(head, 0x1112_1314_1516_1718, &mut packet));
        assert_eq!(packet[..16], octets("00001001 05060708 1112131415161718"));
        assert_eq!(packet[16..36], text);
        let data = [&octets(front)[..], &octets("1112131415161718"), &text].concat();
        let nonce = octets("09090909 1112131415161718").try_into().unwrap();
        assert_eq!(packet[36..], gcm.seal(nonce, &data, &mut []), "{extended}");
        let sealed = packet.clone();
        assert!(cipher.open(head, &mut packet));
        assert_eq!(packet, sealed, "nothing has moved");
        let other = Head { number: number ^ 1 << 32, ..head };
        assert_eq!(cipher.open(other, &mut packet), !extended);
    }
}

/// RFC 3602, section 4, case 4: four blocks of AES-CBC; and RFC 4231, section 4.3, whose first 16 octets RFC 4868 takes.
#[test]
fn cbc_and_hmac() {
    let key = octets("56e47a38c5598974bc46903dba290349");
    let both = CbcSha256::new(&[&key[..], &[0; 32]].concat()).expect("keys");
    let iv: [u8; 16] = octets("8ce82eefbea0da3c44699ed7db51b7d9").try_into().unwrap();
    let text: Vec<u8> = (0xa0..=0xdf).collect();
    let mut place = text.clone();
    both.encrypt(iv, &mut place);
    let sealed = octets(
        "c30e32ffedc0774e6aff6af0869f71aa 0f3af07a9a31a9c684db207eb0ef8e4e 35907aa632c3ffdf868bb7b29d3d46ad
         83ce9f9a102ee99d49a53e87f4c3da55",
    );
    assert_eq!(place, sealed);
    both.decrypt(iv, &mut place);
    assert_eq!(place, text);
    // A key of 20 octets, which zeros make one of 32.
    let keyed = CbcSha256::new(&[&key[..], &[0x0b; 20], &[0; 12]].concat()).expect("keys");
    let head = Head { spi: 0, number: 0, extended: false };
    assert_eq!(keyed.check_value(head, b"Hi There").to_vec(), octets("b0344c61d8db38535ca8afceaf0bf12b"));
}

/// The portable implementation opens what the quicker ones seal, and the other way round, at lengths around where one takes over.
#[test]
fn implementations_agree() {
    for len in [0, 1, 16, 111, 112, 113, 128, 1450, 9000] {
        let portable = Gcm::portable(&[7; 32]).unwrap();
        for gcm in [Gcm::new, Gcm::with_graviola].map(|make| make(&[7; 32]).unwrap()) {
            let mut text = vec![0x5a; len];
            let check = gcm.seal([1; 12], b"data", &mut text);
            assert!(portable.open([1; 12], b"data", &mut text, check), "{len}");
            let check = portable.seal([2; 12], b"data", &mut text);
            assert!(gcm.open([2; 12], b"data", &mut text, check), "{len}");
            assert_eq!(text, vec![0x5a; len]);
        }
    }
}

/// What ESP's header says is the same octets to all implementations.
#[test]
fn implementations_agree_on_headers() {
    for extended in [false, true] {
        let head = Head { spi: 0x0102_0304, number: 0x0506_0708_090a_0b0c, extended };
        let made = [Gcm::new, Gcm::with_graviola, Gcm::portable].map(|make| {
            let (gcm, mut text) = (make(&[7; 16]).unwrap(), [0x5a; 120]);
            let check = gcm.seal_esp([1; 12], head, &mut text);
            let opened = gcm.open_esp([1; 12], head, &mut text, check);
            (check, opened && text == [0x5a; 120])
        });
        assert_eq!(made, [(made[2].0, true); 3]);
    }
}

proptest! {
    /// There and back; with an octet changed anywhere, a part cut off, or another head, not, and then no octet of the text is to be seen.
    #[test]
    fn there_and_back(
        which in 0usize..4, long in any::<bool>(), blocks in 0usize..20, at in any::<prop::sample::Index>(), change in 1u8..,
        number in any::<u64>(), extended in any::<bool>()
    ) {
        let algorithm = Algorithm::ALL[which].1;
        let cipher = Cipher::new(algorithm, &key(algorithm, long)).unwrap_or_else(|_| panic!("a key"));
        let head = Head { spi: 0x1001, number, extended };
        let front = HEADER_LEN + cipher.iv_len();
        let text = vec![0xc3; 16 * blocks];
        let mut sealed = [vec![0; front], text.clone(), vec![0; CHECK_LEN]].concat();
        prop_assert!(cipher.seal(head, number, &mut sealed));
        let mut opened = sealed.clone();
        prop_assert!(cipher.open(head, &mut opened));
        prop_assert_eq!(&opened[front..front + text.len()], &text[..]);

        // SPI and number are not read from the packet: those that are used are in the head.
        let mut changed = sealed.clone();
        let at = HEADER_LEN + at.index(changed.len() - HEADER_LEN);
        changed[at] ^= change;
        prop_assert!(!cipher.open(head, &mut changed));
        if algorithm != Algorithm::AesGmac && blocks > 0 {
            prop_assert!(changed[front..front + text.len()] != text[..]);
        }
        let other = Head { number: number ^ 1 << 32, ..head };
        if head.extended {
            prop_assert!(!cipher.open(other, &mut sealed.clone()));
        }
        let mut short = sealed[..sealed.len() - 1].to_vec();
        prop_assert!(!cipher.open(head, &mut short));
        prop_assert!(!cipher.open(head, &mut sealed[..HEADER_LEN + 3].to_vec()));
    }
}
