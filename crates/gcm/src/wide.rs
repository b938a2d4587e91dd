//! The arithmetic.
//!
//! GCM reads the bits of a block from the left to the right, and numbers have them from the right to the left. Blocks are turned octet by octet when they are
//! loaded; a product of two numbers whose bits are turned is off by one bit, for which powers are kept multiplied by x once more (S. Gueron, M. Kounavis,
//! "Intel Carry-Less Multiplication Instruction and its Usage for Computing the GCM Mode", algorithm 5, has the same in other words).

use std::arch::x86_64::*;
use zeroize::Zeroize;

/// Powers of the hash's value that a key has: those of sixteen blocks, and of the lengths behind them.
const POWERS: usize = 17;
/// Keys of rounds that AES-256 has.
const ROUND_KEYS: usize = 15;
/// Octets of a block.
const BLOCK: usize = 16;
/// Octets of a vector: four blocks.
const VECTOR: usize = 4 * BLOCK;
/// Blocks whose products are summed before anything is reduced.
const SUMMED: usize = 16;
/// Their octets.
const STRIDE: usize = SUMMED * BLOCK;
/// The polynomial's lower half, turned: x^128 = x^7 + x^2 + x + 1.
const POLYNOMIAL: i64 = 0xc200_0000_0000_0000_u64 as i64;

/// Up to sixteen octets that are not encrypted, but must not be changed. They stay in registers: a vector that is loaded from where its parts were
/// just stored would wait for all that is before them.
#[derive(Clone, Copy, Debug)]
pub struct Short {
    /// The octets, the first one the highest, and zeros behind them.
    block: u128,
    octets: usize,
}

impl Short {
    /// By a number, whose highest `octets` octets are meant.
    ///
    /// # Panics
    /// If there are more than sixteen.
    #[inline]
    #[must_use]
    pub fn new(number: u128, octets: usize) -> Short {
        assert!(octets <= BLOCK);
        let kept = u128::MAX.checked_shl(8 * (BLOCK - octets) as u32).unwrap_or(0);
        Short { block: number & kept, octets }
    }
}

/// The key of AES-GCM with AES-128 or AES-256. It is wiped when it is dropped.
#[repr(C)]
pub struct Key {
    rounds: usize,
    /// The powers, the highest first, and then the keys of rounds. They are together, as vectors of powers may end behind the first power, where their
    /// factors are zero.
    words: [[u8; BLOCK]; POWERS + ROUND_KEYS],
}

impl Drop for Key {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

/// Whether this processor has what the functions below need.
fn runs() -> bool {
    is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("vaes")
        && is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("bmi2")
}

impl Key {
    /// By 16 or 32 octets, where the processor has the instructions; otherwise none.
    pub fn new(key: &[u8]) -> Option<Key> {
        if !runs() {
            return None;
        }
        let rounds = match key.len() {
            16 => 10,
            32 => 14,
            _ => return None,
        };
        let mut made = Key { rounds, words: [[0; BLOCK]; POWERS + ROUND_KEYS] };
        // SAFETY: `runs` has found the instructions.
        unsafe { made.fill(key) };
        Some(made)
    }

    /// Encrypts a text in place; the check value, which is also of `data`. The text has less than 64 GiB.
    #[must_use]
    pub fn seal(&self, nonce: &[u8; 12], data: &[u8], text: &mut [u8]) -> [u8; BLOCK] {
        // SAFETY: there is a key, so `runs` has found the instructions.
        unsafe { self.sealed(nonce, self.read(data), text) }
    }

    /// As [`Key::seal`].
    #[must_use]
    pub fn seal_short(&self, nonce: &[u8; 12], data: Short, text: &mut [u8]) -> [u8; BLOCK] {
        // SAFETY: there is a key, so `runs` has found the instructions.
        unsafe { self.sealed(nonce, Data::of(data), text) }
    }

    /// Decrypts a text in place if the check value is right. Otherwise the text is what it was.
    #[must_use]
    pub fn open(&self, nonce: &[u8; 12], data: &[u8], text: &mut [u8], check: &[u8; BLOCK]) -> bool {
        // SAFETY: there is a key, so `runs` has found the instructions.
        unsafe { self.opened(nonce, self.read(data), text, check) }
    }

    /// As [`Key::open`].
    #[must_use]
    pub fn open_short(&self, nonce: &[u8; 12], data: Short, text: &mut [u8], check: &[u8; BLOCK]) -> bool {
        // SAFETY: there is a key, so `runs` has found the instructions.
        unsafe { self.opened(nonce, Data::of(data), text, check) }
    }

    /// What a text of so many octets reads of the key, for a caller that asks for its cache lines ahead. To be looked at by address alone.
    #[must_use]
    pub fn part(&self, text: usize) -> &[u8] {
        let powers = (text.div_ceil(BLOCK) + 2).min(POWERS);
        self.words[POWERS - powers..POWERS + self.rounds + 1].as_flattened()
    }
}

/// A block.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_block(block: &[u8; BLOCK]) -> __m128i {
    // SAFETY: the array has 16 octets, and no alignment is asked for.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

/// Up to 64 octets, and zeros behind them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load(octets: &[u8]) -> __m512i {
    // SAFETY: the mask has a bit for each octet of the slice, up to 64; nothing is read where it has none.
    unsafe { _mm512_maskz_loadu_epi8(mask(octets.len()), octets.as_ptr().cast()) }
}

/// Writes up to 64 octets.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn store(octets: &mut [u8], vector: __m512i) {
    // SAFETY: the mask has a bit for each octet of the slice, up to 64; nothing is written where it has none.
    unsafe { _mm512_mask_storeu_epi8(octets.as_mut_ptr().cast(), mask(octets.len()), vector) }
}

/// A bit for each of up to 64 octets.
#[inline]
#[target_feature(enable = "bmi2")]
fn mask(octets: usize) -> __mmask64 {
    _bzhi_u64(u64::MAX, octets.min(VECTOR) as u32)
}

/// The octets of a block.
#[inline]
#[target_feature(enable = "avx512f")]
fn to_octets(block: __m128i) -> [u8; BLOCK] {
    let mut octets = [0; BLOCK];
    // SAFETY: the array has 16 octets, and no alignment is asked for.
    unsafe { _mm_storeu_si128(octets.as_mut_ptr().cast(), block) };
    octets
}

/// The octets of each block the other way round.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn turned(blocks: __m512i) -> __m512i {
    let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm512_shuffle_epi8(blocks, _mm512_broadcast_i32x4(order))
}

/// The octets of a block the other way round.
#[inline]
#[target_feature(enable = "avx512f")]
fn turned_block(block: __m128i) -> __m128i {
    _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
}

/// Sums of products of 64 bits each, by their place in products of 128 bits, in four lanes.
#[derive(Clone, Copy)]
struct Sums {
    low: __m512i,
    middle: __m512i,
    high: __m512i,
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new() -> Sums {
        let zero = _mm512_setzero_si512();
        Sums { low: zero, middle: zero, high: zero }
    }

    /// Adds the products of four blocks, which are turned, with four powers.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn add(&mut self, blocks: __m512i, powers: __m512i) {
        const ADD: i32 = 0x96; // of three
        let low = _mm512_clmulepi64_epi128::<0x00>(blocks, powers);
        let one = _mm512_clmulepi64_epi128::<0x01>(blocks, powers);
        let other = _mm512_clmulepi64_epi128::<0x10>(blocks, powers);
        let high = _mm512_clmulepi64_epi128::<0x11>(blocks, powers);
        self.low = _mm512_xor_si512(self.low, low);
        self.middle = _mm512_ternarylogic_epi64::<ADD>(self.middle, one, other);
        self.high = _mm512_xor_si512(self.high, high);
    }

    /// All as one block, by the polynomial.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,pclmulqdq,vpclmulqdq")]
    fn reduced(self) -> __m128i {
        let [low, middle, high] = [self.low, self.middle, self.high].map(|lanes| {
            let pair = _mm256_xor_si256(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes));
            _mm_xor_si128(_mm256_castsi256_si128(pair), _mm256_extracti128_si256::<1>(pair))
        });
        reduce(low, middle, high)
    }
}

/// A product of 256 bits, of which the middle half is apart, as a block. Twice, the lowest 64 bits are what a multiple of the polynomial takes away.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,pclmulqdq")]
fn reduce(low: __m128i, middle: __m128i, high: __m128i) -> __m128i {
    const ADD: i32 = 0x96; // of three
    const SWAP: i32 = 0x4e; // the halves
    let polynomial = _mm_set_epi64x(POLYNOMIAL, 1);
    let taken = _mm_clmulepi64_si128::<0x01>(polynomial, low);
    let middle = _mm_ternarylogic_epi64::<ADD>(middle, _mm_shuffle_epi32::<SWAP>(low), taken);
    let taken = _mm_clmulepi64_si128::<0x01>(polynomial, middle);
    _mm_ternarylogic_epi64::<ADD>(high, _mm_shuffle_epi32::<SWAP>(middle), taken)
}

/// The product of a block with a power.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,pclmulqdq")]
fn multiply(block: __m128i, power: __m128i) -> __m128i {
    let low = _mm_clmulepi64_si128::<0x00>(block, power);
    let one = _mm_clmulepi64_si128::<0x01>(block, power);
    let other = _mm_clmulepi64_si128::<0x10>(block, power);
    let high = _mm_clmulepi64_si128::<0x11>(block, power);
    reduce(low, _mm_xor_si128(one, other), high)
}

/// What stands before a text.
#[derive(Clone, Copy)]
struct Data {
    /// A block, turned, or the hash of several.
    value: __m128i,
    /// Whether it is a block, which is to be multiplied yet.
    is_block: bool,
    octets: usize,
}

impl Data {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(short: Short) -> Data {
        let value = _mm_set_epi64x((short.block >> 64) as i64, short.block as i64);
        Data { value, is_block: true, octets: short.octets }
    }
}

/// What is encrypted and added to the text: the nonce and a number for each block.
#[derive(Clone, Copy)]
struct Counter {
    /// The nonce in each lane, and behind it the numbers of the next four blocks, in the processor's order of octets.
    next: __m512i,
}

impl Counter {
    /// The text's blocks have the numbers from two on; one is that of the check value.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(nonce: &[u8; 12]) -> (Counter, __m128i) {
        // As callers have stored it: the salt, and the rest.
        let [a, b, c, d, rest @ ..] = *nonce;
        let (salt, rest) = (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(rest));
        let (low, high) = (u64::from(salt) | rest << 32, rest >> 32);
        let base = _mm512_broadcast_i32x4(_mm_set_epi64x(high as i64, low as i64));
        let numbers = _mm512_set_epi32(5, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0);
        let of_check = _mm_set_epi64x((high | 1 << 56) as i64, low as i64);
        (Counter { next: _mm512_or_si512(base, numbers) }, of_check)
    }

    /// The next four blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn step(&mut self) -> __m512i {
        let order = _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        let blocks = _mm512_shuffle_epi8(self.next, _mm512_broadcast_i32x4(order));
        self.next = _mm512_add_epi32(self.next, _mm512_set4_epi32(4, 0, 0, 0));
        blocks
    }
}

impl Key {
    /// Computes keys of rounds and powers.
    #[target_feature(enable = "aes,pclmulqdq,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,bmi2")]
    fn fill(&mut self, key: &[u8]) {
        expand(key, &mut self.words[POWERS..][..self.rounds + 1]);
        let zero = _mm_setzero_si128();
        let hash =
            if self.rounds == 10 { self.encrypt_block::<10>(zero) } else { self.encrypt_block::<14>(zero) };
        let hash = u128::from_be_bytes(to_octets(hash));
        // Multiplied by x, which is a shift to the left here. The polynomial takes away what leaves the number.
        let left = if hash >> 127 == 1 { u128::from(POLYNOMIAL as u64) << 64 | 1 } else { 0 };
        let multiplied = hash << 1 ^ left;
        let first = _mm_set_epi64x((multiplied >> 64) as i64, multiplied as i64);
        let mut power = first;
        for exponent in 1..=POWERS {
            self.words[POWERS - exponent] = to_octets(power);
            power = multiply(power, first);
        }
    }

    /// [`Key::seal`].
    #[target_feature(enable = "aes,pclmulqdq,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,bmi2")]
    fn sealed(&self, nonce: &[u8; 12], data: Data, text: &mut [u8]) -> [u8; BLOCK] {
        to_octets(if self.rounds == 10 {
            self.crypt::<10, true>(nonce, data, text)
        } else {
            self.crypt::<14, true>(nonce, data, text)
        })
    }

    /// [`Key::open`].
    #[target_feature(enable = "aes,pclmulqdq,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,bmi2")]
    fn opened(&self, nonce: &[u8; 12], data: Data, text: &mut [u8], check: &[u8; BLOCK]) -> bool {
        let right = if self.rounds == 10 {
            self.crypt::<10, false>(nonce, data, text)
        } else {
            self.crypt::<14, false>(nonce, data, text)
        };
        let difference = _mm_xor_si128(right, load_block(check));
        let is_right = _mm_testz_si128(difference, difference) == 1;
        if !is_right {
            // Added once more, the stream is gone from the text.
            let _ = self.sealed(nonce, data, text);
        }
        is_right
    }

    /// Adds the stream to the text. The check value, of the text as it becomes or as it was.
    #[inline]
    #[target_feature(enable = "aes,pclmulqdq,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,bmi2")]
    fn crypt<const ROUNDS: usize, const SEAL: bool>(
        &self,
        nonce: &[u8; 12],
        data: Data,
        text: &mut [u8],
    ) -> __m128i {
        let (mut counter, of_check) = Counter::new(nonce);
        let lengths = _mm_set_epi64x(8 * data.octets as i64, 8 * text.len() as i64);
        let blocks = text.len().div_ceil(BLOCK);
        let (strides, rest) = text.as_chunks_mut::<STRIDE>();
        // What comes before the rest of the text, and the power that it is multiplied with. A block of data and a short text are in one sum.
        let mut left = rest.len().div_ceil(BLOCK);
        let (mut before, power) = match data.is_block {
            true if blocks + 2 <= POWERS => (data.value, blocks + 2),
            true => (multiply(data.value, self.power(1)), left + 1),
            false => (data.value, left + 1),
        };
        for stride in strides {
            let stream = self.encrypt::<ROUNDS, 4>(std::array::from_fn(|_| counter.step()));
            let mut sums = Sums::new();
            for (at, part) in stride.as_chunks_mut::<VECTOR>().0.iter_mut().enumerate() {
                let from = load(part);
                let to = _mm512_xor_si512(from, stream[at]);
                store(part, to);
                let mut hashed = turned(if SEAL { to } else { from });
                if at == 0 {
                    hashed = _mm512_xor_si512(hashed, _mm512_zextsi128_si512(before));
                }
                sums.add(hashed, self.powers(SUMMED - 4 * at));
            }
            before = sums.reduced();
        }
        let mut sums = Sums::new();
        let ends = _mm256_set_m128i(lengths, before);
        let powers = _mm256_set_m128i(self.power(1), self.power(power));
        sums.add(_mm512_zextsi256_si512(ends), _mm512_zextsi256_si512(powers));
        for part in rest.chunks_mut(VECTOR) {
            let [stream] = self.encrypt::<ROUNDS, 1>([counter.step()]);
            let from = load(part);
            let to = _mm512_maskz_mov_epi8(mask(part.len()), _mm512_xor_si512(from, stream));
            store(part, to);
            sums.add(turned(if SEAL { to } else { from }), self.powers(left + 1));
            left = left.saturating_sub(4);
        }
        _mm_xor_si128(turned_block(sums.reduced()), self.encrypt_block::<ROUNDS>(of_check))
    }

    /// Reads data: of more than a block the hash.
    #[target_feature(enable = "aes,pclmulqdq,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,bmi2")]
    fn read(&self, data: &[u8]) -> Data {
        let (mut value, is_block, octets) = (_mm_setzero_si128(), data.len() <= BLOCK, data.len());
        if is_block {
            return Data { value: _mm512_castsi512_si128(turned(load(data))), is_block, octets };
        }
        for part in data.chunks(VECTOR) {
            let mut sums = Sums::new();
            let blocks = _mm512_xor_si512(turned(load(part)), _mm512_zextsi128_si512(value));
            sums.add(blocks, self.powers(part.len().div_ceil(BLOCK)));
            value = sums.reduced();
        }
        Data { value, is_block, octets }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn power(&self, exponent: usize) -> __m128i {
        load_block(&self.words[POWERS - exponent])
    }

    /// A power and the three below it. Below the first one come others, for blocks that are zero.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    fn powers(&self, exponent: usize) -> __m512i {
        load(self.words[POWERS - exponent..][..4].as_flattened())
    }

    #[inline]
    #[target_feature(enable = "aes,avx512f")]
    fn encrypt_block<const ROUNDS: usize>(&self, block: __m128i) -> __m128i {
        let mut state = _mm_xor_si128(block, self.round_key(0));
        for round in 1..ROUNDS {
            state = _mm_aesenc_si128(state, self.round_key(round));
        }
        _mm_aesenclast_si128(state, self.round_key(ROUNDS))
    }

    /// Four blocks in each vector, round by round for all vectors.
    #[inline]
    #[target_feature(enable = "vaes,avx512f")]
    fn encrypt<const ROUNDS: usize, const VECTORS: usize>(
        &self,
        mut states: [__m512i; VECTORS],
    ) -> [__m512i; VECTORS] {
        for state in &mut states {
            *state = _mm512_xor_si512(*state, _mm512_broadcast_i32x4(self.round_key(0)));
        }
        for round in 1..ROUNDS {
            let key = _mm512_broadcast_i32x4(self.round_key(round));
            for state in &mut states {
                *state = _mm512_aesenc_epi128(*state, key);
            }
        }
        for state in &mut states {
            *state = _mm512_aesenclast_epi128(*state, _mm512_broadcast_i32x4(self.round_key(ROUNDS)));
        }
        states
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn round_key(&self, round: usize) -> __m128i {
        load_block(&self.words[POWERS + round])
    }
}

/// The keys of rounds (FIPS 197, section 5.2).
#[target_feature(enable = "aes,avx512f")]
fn expand(key: &[u8], keys: &mut [[u8; BLOCK]]) {
    let words = key.len() / 4;
    let mut schedule = [0_u32; 4 * ROUND_KEYS];
    let mut constant = 1_u32;
    for (at, word) in key.as_chunks().0.iter().enumerate() {
        schedule[at] = u32::from_le_bytes(*word);
    }
    for at in words..4 * keys.len() {
        let mut word = schedule[at - 1];
        if at % words == 0 {
            word = substituted(word).rotate_right(8) ^ constant;
            // Doubled in the field of 256 elements.
            constant = constant << 1 ^ if constant & 0x80 == 0 { 0 } else { 0x11b };
        } else if words == 8 && at % words == 4 {
            word = substituted(word);
        }
        schedule[at] = schedule[at - words] ^ word;
    }
    for (key, words) in keys.iter_mut().zip(schedule.as_chunks::<4>().0) {
        key.as_chunks_mut().0.iter_mut().zip(words).for_each(|(octets, word)| *octets = word.to_le_bytes());
    }
    schedule.zeroize();
}

/// A word with each octet replaced as AES does. The last round does that without a table; where all columns are alike, moving rows changes nothing.
#[target_feature(enable = "aes,avx512f")]
fn substituted(word: u32) -> u32 {
    let column = _mm_set1_epi32(word as i32);
    _mm_cvtsi128_si32(_mm_aesenclast_si128(column, _mm_setzero_si128())) as u32
}
