//! Focus, exposure and white balance of a camera: read once it has settled, locked, and set again at the next start.
//!
//! Through OpenCV's properties, which on Linux are the V4L2 controls. A control that a camera does not have stays out.

use super::camera::CameraError;
use super::profile::Controls;
use opencv::videoio::{
    CAP_PROP_AUTO_EXPOSURE, CAP_PROP_AUTO_WB, CAP_PROP_AUTOFOCUS, CAP_PROP_EXPOSURE, CAP_PROP_FOCUS, CAP_PROP_GAIN,
    CAP_PROP_WB_TEMPERATURE, VideoCapture, VideoCaptureTrait, VideoCaptureTraitConst,
};

/// V4L2's manual exposure.
const MANUAL_EXPOSURE: f64 = 1.0;

/// Reads what the camera has settled on.
///
/// # Errors
/// OpenCV fails.
pub fn read(capture: &VideoCapture) -> Result<Controls, CameraError> {
    // A control that is not there reads as -1 or 0.
    let value = |property| capture.get(property).map(|value| Some(value).filter(|value| *value > 0.0));
    Ok(Controls {
        exposure: value(CAP_PROP_EXPOSURE)?,
        gain: value(CAP_PROP_GAIN)?,
        focus: value(CAP_PROP_FOCUS)?,
        white_balance: value(CAP_PROP_WB_TEMPERATURE)?,
    })
}

/// Switches the automatics off and sets the values. Returns what the camera holds then: `set()` says true without effect.
///
/// # Errors
/// OpenCV fails.
pub fn set(capture: &mut VideoCapture, controls: &Controls) -> Result<Controls, CameraError> {
    if let Some(exposure) = controls.exposure {
        capture.set(CAP_PROP_AUTO_EXPOSURE, MANUAL_EXPOSURE)?;
        capture.set(CAP_PROP_EXPOSURE, exposure)?;
    }
    if let Some(gain) = controls.gain {
        capture.set(CAP_PROP_GAIN, gain)?;
    }
    if let Some(focus) = controls.focus {
        capture.set(CAP_PROP_AUTOFOCUS, 0.0)?;
        capture.set(CAP_PROP_FOCUS, focus)?;
    }
    if let Some(kelvin) = controls.white_balance {
        capture.set(CAP_PROP_AUTO_WB, 0.0)?;
        capture.set(CAP_PROP_WB_TEMPERATURE, kelvin)?;
    }
    read(capture)
}
