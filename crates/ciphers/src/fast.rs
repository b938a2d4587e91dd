//! The quicker implementations, where the processor can do what they need.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod on {
    pub(crate) use graviola::aead::{AesGcm as Gcm, ChaCha20Poly1305 as ChaCha};

    /// Whether the processor has what graviola asserts.
    pub(crate) fn runs() -> bool {
        #[cfg(target_arch = "x86_64")]
        return is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("adx")
            && is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("avx2");
        #[cfg(target_arch = "aarch64")]
        return std::arch::is_aarch64_feature_detected!("neon")
            && std::arch::is_aarch64_feature_detected!("aes")
            && std::arch::is_aarch64_feature_detected!("pmull")
            && std::arch::is_aarch64_feature_detected!("sha2");
    }

    pub(crate) fn gcm(key: &[u8]) -> Option<Gcm> {
        runs().then(|| Gcm::new(key))
    }

    #[inline]
    pub(crate) fn seal_gcm(gcm: &Gcm, nonce: &[u8; 12], data: &[u8], text: &mut [u8]) -> [u8; 16] {
        let mut check = [0; 16];
        gcm.encrypt(nonce, data, text, &mut check);
        check
    }

    #[inline]
    pub(crate) fn open_gcm(
        gcm: &Gcm,
        nonce: &[u8; 12],
        data: &[u8],
        text: &mut [u8],
        check: &[u8; 16],
    ) -> bool {
        gcm.decrypt(nonce, data, text, check).is_ok()
    }

    pub(crate) fn chacha(key: [u8; 32]) -> Option<ChaCha> {
        runs().then(|| ChaCha::new(key))
    }

    #[inline]
    pub(crate) fn seal_chacha(of: &ChaCha, nonce: &[u8; 12], data: &[u8], text: &mut [u8]) -> [u8; 16] {
        let mut check = [0; 16];
        of.encrypt(nonce, data, text, &mut check);
        check
    }

    #[inline]
    pub(crate) fn open_chacha(
        of: &ChaCha,
        nonce: &[u8; 12],
        data: &[u8],
        text: &mut [u8],
        check: &[u8; 16],
    ) -> bool {
        of.decrypt(nonce, data, text, check).is_ok()
    }
}

/// Other processors have none.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod on {
    /// Never there.
    pub(crate) enum Gcm {}
    /// Never there.
    pub(crate) enum ChaCha {}

    pub(crate) fn runs() -> bool {
        false
    }
    pub(crate) fn gcm(_: &[u8]) -> Option<Gcm> {
        None
    }
    pub(crate) fn seal_gcm(gcm: &Gcm, _: &[u8; 12], _: &[u8], _: &mut [u8]) -> [u8; 16] {
        match *gcm {}
    }
    pub(crate) fn open_gcm(gcm: &Gcm, _: &[u8; 12], _: &[u8], _: &mut [u8], _: &[u8; 16]) -> bool {
        match *gcm {}
    }
    pub(crate) fn chacha(_: [u8; 32]) -> Option<ChaCha> {
        None
    }
    pub(crate) fn seal_chacha(of: &ChaCha, _: &[u8; 12], _: &[u8], _: &mut [u8]) -> [u8; 16] {
        match *of {}
    }
    pub(crate) fn open_chacha(of: &ChaCha, _: &[u8; 12], _: &[u8], _: &mut [u8], _: &[u8; 16]) -> bool {
        match *of {}
    }
}

pub(crate) use on::*;
