// speaker.rs - the speaker classifier from Rust: prints a segment's speaker and its largest logit a line.
// Usage: speaker WEIGHTS SEGMENTS; segments are floats [32][128][40].
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int};
use std::ptr;

// The parts of speaker.h that are used here.
const BATCH: usize = 32;
const FEATURES: usize = BATCH * 128 * 40;
const SPEAKERS: usize = 600;

#[repr(C)]
struct RawModel {
    _private: [u8; 0],
}
#[repr(C)]
struct RawContext {
    _private: [u8; 0],
}
#[repr(C)]
struct ForwardIn {
    features: *const f32,
}
#[repr(C)]
struct ForwardOut {
    logits: *mut f32,
    speaker: *mut i32,
}

#[link(name = "speaker")]
extern "C" {
    fn speaker_open(weights: *const c_char, model: *mut *mut RawModel, message: *mut c_char, size: usize) -> c_int;
    fn speaker_create(model: *const RawModel, context: *mut *mut RawContext) -> c_int;
    fn speaker_forward(context: *mut RawContext, inputs: *const ForwardIn, outputs: *mut ForwardOut) -> c_int;
    fn speaker_destroy(context: *mut RawContext);
    fn speaker_close(model: *mut RawModel);
    fn speaker_strerror(status: c_int) -> *const c_char;
}

/// An open model with the memory of one caller.
struct Speaker {
    model: *mut RawModel,
    context: *mut RawContext,
}

fn checked(status: c_int) -> Result<(), String> {
    match status {
        0 => Ok(()),
        _ => Err(unsafe { CStr::from_ptr(speaker_strerror(status)) }.to_string_lossy().into_owned()),
    }
}

impl Speaker {
    fn open(weights: &str) -> Result<Speaker, String> {
        let path = CString::new(weights).map_err(|error| error.to_string())?;
        let mut message = [0 as c_char; 1024];
        let mut speaker = Speaker { model: ptr::null_mut(), context: ptr::null_mut() };
        let status = unsafe { speaker_open(path.as_ptr(), &mut speaker.model, message.as_mut_ptr(), message.len()) };
        if status != 0 {
            return Err(unsafe { CStr::from_ptr(message.as_ptr()) }.to_string_lossy().into_owned());
        }
        checked(unsafe { speaker_create(speaker.model, &mut speaker.context) })?;
        Ok(speaker)
    }

    /// Returns the logits, [32][600], and the speakers, [32], of segments, [32][128][40]. `&mut`: one call at a time.
    fn forward(&mut self, features: &[f32]) -> Result<(Vec<f32>, Vec<i32>), String> {
        assert_eq!(features.len(), FEATURES);
        let (mut logits, mut speakers) = (vec![0f32; BATCH * SPEAKERS], vec![0i32; BATCH]);
        let inputs = ForwardIn { features: features.as_ptr() };
        let mut outputs = ForwardOut { logits: logits.as_mut_ptr(), speaker: speakers.as_mut_ptr() };
        checked(unsafe { speaker_forward(self.context, &inputs, &mut outputs) })?;
        Ok((logits, speakers))
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        unsafe {
            speaker_destroy(self.context);
            speaker_close(self.model);
        }
    }
}

fn run(weights: &str, segments: &str) -> Result<(), String> {
    let bytes = std::fs::read(segments).map_err(|error| format!("{}: {}", segments, error))?;
    let features: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    if features.len() != FEATURES {
        return Err(format!("{}: does not have the expected {} floats", segments, FEATURES));
    }
    let (logits, speakers) = Speaker::open(weights)?.forward(&features)?;
    for (number, row) in speakers.iter().zip(logits.chunks_exact(SPEAKERS)) {
        println!("{} {:.6}", number, row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    }
    Ok(())
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 3 {
        std::process::exit(2);
    }
    if let Err(message) = run(&words[1], &words[2]) {
        eprintln!("{}", message);
        std::process::exit(1);
    }
}
