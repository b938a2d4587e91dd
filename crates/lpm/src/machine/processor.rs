//! What the processor has.

/// What the processor has. Made by [`Processor::detect`] alone, or with less than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) struct Processor {
    /// Instructions that count and pick bits.
    pub(super) bits: bool,
    /// AVX-512: registers of sixteen lookups.
    pub(super) sixteen: bool,
}

impl Processor {
    /// Asks the system.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let bits = std::arch::is_x86_feature_detected!("popcnt")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("bmi2");
            let sixteen = bits
                && std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("avx512dq")
                && std::arch::is_x86_feature_detected!("avx512vl")
                && std::arch::is_x86_feature_detected!("avx512vpopcntdq");
            Self { bits, sixteen }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self { bits: false, sixteen: false }
    }

    /// This processor and each lesser one, saying what this one lacks.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let here = Self::detect();
        if !here.sixteen {
            println!("lookups with AVX-512 left out: this processor has only {here:?}");
        }
        let plain = Self { sixteen: false, ..here };
        vec![here, plain, Self { bits: false, ..plain }]
    }
}
