use super::*;
use crate::count::testing::overhead;

/// Photos of one overhead camera, their lines and focal lengths off by what `noise` gives for each.
fn photos(count: usize, noise: impl Fn(usize) -> (f64, f64)) -> Vec<Measured> {
    (0..count)
        .map(|at| {
            let truth = overhead(&[(200.0, 0.0), (-80.0, 40.0)]);
            let (mut registration, detections) = (truth.registration, truth.detections);
            let (line_mm, focal) = noise(at);
            let turned = |camera: &crate::geometry::Camera, by: f64| {
                let mut x = pack(camera);
                x[0] += by;
                unpack(&x)
            };
            let camera = turned(&registration.camera, focal);
            registration.rings[1].inner_mm += line_mm;
            let (inner, centres) = (registration.inner_mm(), registration.centres());
            let wider = Deviation { camera: camera.clone(), inner_mm: [inner[0], inner[1] + 0.2, inner[2]], centres };
            let longer = Deviation { camera: turned(&camera, 0.1), inner_mm: inner, centres };
            registration.camera = camera;
            registration.deviations = vec![wider, longer];
            Measured { registration, detections }
        })
        .collect()
}

fn line_sigma(registration: &Registration) -> f64 {
    let own = registration.inner_mm()[1];
    registration.deviations.iter().map(|d| (d.inner_mm[1] - own).powi(2)).sum::<f64>().sqrt()
}

/// -1.5 to 1.5 in even steps, of standard deviation about 1.
fn even(at: usize) -> f64 {
    (at % 6) as f64 * 0.6 - 1.5
}

#[test]
fn what_scatters_is_averaged_and_gets_surer() {
    let mut pooled = photos(24, |at| (0.19 * even(at), 0.0));
    let truth = overhead(&[]).registration.inner_mm()[1];
    pool(&mut pooled, true, &detect::Config::default());
    for photo in &pooled {
        assert!((photo.registration.inner_mm()[1] - truth).abs() < 0.01);
        let sigma = line_sigma(&photo.registration);
        assert!(sigma < 0.08, "{sigma} from 0.2 by 24 photos");
    }
}

#[test]
fn what_all_photos_have_alike_is_no_surer_than_in_one() {
    let mut pooled = photos(24, |_| (0.3, 0.0));
    pool(&mut pooled, true, &detect::Config::default());
    for photo in &pooled {
        let sigma = line_sigma(&photo.registration);
        assert!((sigma - 0.2).abs() < 0.01, "{sigma}");
        let height = photo.registration.camera.height_mm();
        let off = photo.registration.deviations.iter().map(|d| (d.camera.height_mm() / height - 1.0).powi(2));
        assert!((off.sum::<f64>().sqrt() - 0.1).abs() < 0.01, "the focal length stays unknown");
    }
}

#[test]
fn a_bumped_board_is_left_out() {
    let mut pooled = photos(12, |at| (0.02 * even(at), 0.0));
    pooled[7].registration.rings[1].inner_mm += 4.0;
    pooled[7].registration.deviations.iter_mut().for_each(|deviation| deviation.inner_mm[1] += 4.0);
    let before = pooled[7].registration.inner_mm();
    pool(&mut pooled, true, &detect::Config::default());
    assert_eq!(pooled[7].registration.inner_mm(), before);
    let truth = overhead(&[]).registration.inner_mm()[1];
    assert!((pooled[0].registration.inner_mm()[1] - truth).abs() < 0.02);
}

#[test]
fn two_cameras_and_boards_are_not_one() {
    let mut pooled = photos(12, |at| (0.02 * even(at), 0.002 * even(at)));
    for photo in &mut pooled[6..] {
        photo.registration.rings[1].inner_mm = 140.0;
        photo.registration.deviations.iter_mut().for_each(|deviation| deviation.inner_mm[1] = 140.2);
    }
    for (at, photo) in pooled.iter_mut().enumerate() {
        photo.detections.set.radius_mm = if at < 6 { 15.82 } else { 15.5 };
        photo.detections.set.radius_sigma_mm = 0.1;
    }
    let kin = pool(&mut pooled, true, &detect::Config::default());
    assert_ne!(kin[0].left_out, kin[11].left_out, "{kin:?}");
    assert_eq!(kin[0].photos, 6, "{kin:?}");
    let radius = |at: usize| pooled[at].detections.set.radius_mm;
    assert!((radius(0) - 15.82).abs() < 0.05 && (radius(11) - 15.5).abs() < 0.05, "{} {}", radius(0), radius(11));
}

#[test]
fn another_set_of_discs_is_left_out_by_its_colours() {
    let mut pooled = photos(12, |at| (0.02 * even(at), 0.0));
    for (at, photo) in pooled.iter_mut().enumerate() {
        let other = at >= 7;
        photo.detections.set.radius_mm = if other { 15.5 } else { 15.82 };
        photo.detections.set.radius_sigma_mm = 0.1;
        let dark = if other { [40.0, 60.0, 45.0] } else { [15.0, 1.0, 2.0] };
        photo.detections.palette = [Some(dark), Some([70.0, 7.0, 32.0])];
    }
    let kin = pool(&mut pooled, true, &detect::Config::default());
    for (at, photo) in pooled.iter().enumerate() {
        let radius = photo.detections.set.radius_mm;
        assert_eq!(kin[at], Kin { photos: 12, left_out: at >= 7 });
        assert!((radius - if at >= 7 { 15.5 } else { 15.82 }).abs() < 0.03, "{radius}");
    }
}

#[test]
fn too_few_photos_stay_as_they_are() {
    let mut pooled = photos(FEWEST_PHOTOS - 1, |at| (0.2 * even(at), 0.0));
    let before: Vec<[f64; 3]> = pooled.iter().map(|photo| photo.registration.inner_mm()).collect();
    pool(&mut pooled, true, &detect::Config::default());
    let after: Vec<[f64; 3]> = pooled.iter().map(|photo| photo.registration.inner_mm()).collect();
    assert_eq!(before, after);
}

#[test]
fn one_set_of_discs_has_one_radius() {
    let config = detect::Config::default();
    let mut pooled = photos(16, |_| (0.0, 0.0));
    for (at, photo) in pooled.iter_mut().enumerate() {
        photo.detections.set.radius_mm = 15.5 + 0.1 * even(at);
        photo.detections.set.radius_sigma_mm = 0.1;
    }
    pool(&mut pooled, false, &config);
    for photo in &pooled {
        let set = photo.detections.set;
        assert!((set.radius_mm - 15.5).abs() < 0.03, "{set:?}");
        assert!(set.radius_sigma_mm < 0.05, "{set:?}");
    }
}

#[test]
fn photos_that_tell_nothing_about_a_measure_leave_its_prior() {
    assert_eq!(shared([(9.9, 0.6); 8].into_iter(), (9.9, 0.6)), None);
    let (value, sigma) = shared([(16.0, 0.2), (16.2, 0.2), (16.0, 0.2), (16.2, 0.2)].into_iter(), (15.0, 0.8)).unwrap();
    assert!(value > 16.0 && value < 16.2 && sigma < 0.2, "{value} {sigma}");
}

#[test]
fn a_photo_of_one_colour_learns_from_the_others_which_it_is() {
    let mut pooled = photos(8, |_| (0.0, 0.0));
    let (dark, light) = ([15.0, 1.0, 2.0], [70.0, 7.0, 32.0]);
    for photo in &mut pooled {
        photo.detections.palette = [Some(dark), Some(light)];
    }
    pooled[3].detections.palette = [Some([68.0, 8.0, 30.0]), None];
    pooled[3].detections.discs.iter_mut().for_each(|disc| disc.side = Some(crate::board::Side::A));
    pool(&mut pooled, false, &detect::Config::default());
    assert!(pooled[3].detections.palette[0].is_none());
    assert!(pooled[3].detections.discs.iter().all(|disc| disc.side == Some(crate::board::Side::B)));
}
