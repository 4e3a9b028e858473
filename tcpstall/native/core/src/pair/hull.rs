//! Convex hull of points: those that a straight line below, or above, can touch.

/// A time and a value, both nanoseconds.
pub(super) type Point = (f64, f64);

/// The lower hull of points in order of time; of several at one time the lowest.
pub(super) fn lower(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut hull: Vec<Point> = Vec::new();
    for point in points {
        if let Some(last) = hull.last().copied().filter(|last| last.0 >= point.0) {
            if last.1 <= point.1 {
                continue;
            }
            hull.pop();
        }
        while let [.., a, b] = hull[..] {
            let turn = (b.0 - a.0) * (point.1 - a.1) - (b.1 - a.1) * (point.0 - a.0);
            if turn > 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// The smallest value of the points after a slope is subtracted, by their lower hull.
pub(super) fn least(hull: &[Point], slope: f64) -> f64 {
    hull.iter().map(|(time, value)| value - slope * time).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::{least, lower};

    #[test]
    fn what_a_line_from_below_cannot_touch_is_left_out() {
        let hull = lower([(0.0, 5.0), (1.0, 9.0), (2.0, 1.0), (2.0, 3.0), (3.0, 4.0), (4.0, 2.0)].into_iter());
        assert_eq!(hull, [(0.0, 5.0), (2.0, 1.0), (4.0, 2.0)]);
        assert_eq!(least(&hull, 0.0), 1.0);
        assert_eq!(least(&hull, 1.0), -2.0);
    }
}
