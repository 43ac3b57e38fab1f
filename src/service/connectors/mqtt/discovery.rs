//! Home Assistant's discovery: what a board has to show, announced under `PREFIX/COMPONENT/crokeye_BOARD/OBJECT/config`.

use serde_json::{Value, json};

use super::topics::{self, EVENT_TYPES, OFFLINE, ONLINE};

/// One thing that is shown.
struct Entity {
    component: &'static str,
    object: &'static str,
    name: &'static str,
    icon: &'static str,
    /// Which topic of the board, and what of it.
    topic: &'static str,
    value: &'static str,
    more: fn() -> Value,
}

fn nothing() -> Value {
    json!({})
}

fn points() -> Value {
    json!({ "state_class": "measurement", "unit_of_measurement": "points" })
}

fn twenties() -> Value {
    json!({ "state_class": "measurement", "unit_of_measurement": "20s" })
}

fn on_off() -> Value {
    json!({ "payload_on": "True", "payload_off": "False" })
}

fn trouble() -> Value {
    json!({ "payload_on": "True", "payload_off": "False", "device_class": "problem", "entity_category": "diagnostic" })
}

const fn sensor(
    object: &'static str,
    name: &'static str,
    icon: &'static str,
    topic: &'static str,
    value: &'static str,
    more: fn() -> Value,
) -> Entity {
    Entity { component: "sensor", object, name, icon, topic, value, more }
}

const fn binary(
    object: &'static str,
    name: &'static str,
    icon: &'static str,
    topic: &'static str,
    value: &'static str,
    more: fn() -> Value,
) -> Entity {
    Entity { component: "binary_sensor", object, name, icon, topic, value, more }
}

const ENTITIES: [Entity; 13] = [
    sensor("phase", "Phase", "mdi:progress-clock", "board", "{{ value_json.phase }}", nothing),
    sensor("watching", "Watching", "mdi:eye", "board", "{{ value_json.state }}", nothing),
    binary("clearing", "Board being cleared", "mdi:broom", "board", "{{ value_json.clearing }}", on_off),
    binary(
        "trouble",
        "Camera or view",
        "mdi:camera-off",
        "board",
        "{{ value_json.held is not none or value_json.camera is not none or value_json.reason is not none }}",
        trouble,
    ),
    sensor("points_a", "Points A", "mdi:scoreboard", "score", "{{ value_json.a.points }}", points),
    sensor("points_b", "Points B", "mdi:scoreboard", "score", "{{ value_json.b.points }}", points),
    sensor("twenties_a", "20s A", "mdi:bullseye", "score", "{{ value_json.a.twenties }}", twenties),
    sensor("twenties_b", "20s B", "mdi:bullseye", "score", "{{ value_json.b.twenties }}", twenties),
    sensor("rounds", "Rounds", "mdi:counter", "score", "{{ value_json.rounds }}", nothing),
    sensor("match", "Match", "mdi:trophy", "score", "{{ value_json.state }}", nothing),
    binary(
        "waiting",
        "Round waits for the referee",
        "mdi:account-question",
        "score",
        "{{ (value_json.waiting or 0) > 0 }}",
        on_off,
    ),
    sensor("count_a", "On the board A", "mdi:disc", "count", "{{ value_json.a.total }}", points),
    sensor("count_b", "On the board B", "mdi:disc", "count", "{{ value_json.b.total }}", points),
];

/// What is announced for a board: topics and their messages.
pub(super) fn configs(discovery: &str, prefix: &str, board: &str) -> Vec<(String, Value)> {
    let device = format!("{}_{board}", prefix.replace('/', "_"));
    let shared = |object: &str, name: &str, icon: &str| {
        json!({
            "unique_id": format!("{device}_{object}"), "object_id": format!("{device}_{object}"), "name": name, "icon": icon,
            "availability_topic": topics::status(prefix), "payload_available": ONLINE, "payload_not_available": OFFLINE,
            "device": { "identifiers": [device], "name": format!("Crokinole board {board}"), "model": "crokeye",
                        "sw_version": env!("CARGO_PKG_VERSION") },
            "origin": { "name": "crokeye", "sw_version": env!("CARGO_PKG_VERSION") },
        })
    };
    let topic = |component: &str, object: &str| format!("{discovery}/{component}/{device}/{object}/config");
    let mut all: Vec<(String, Value)> = ENTITIES
        .iter()
        .map(|entity| {
            let mut config = shared(entity.object, entity.name, entity.icon);
            config["state_topic"] = json!(topics::of(prefix, board, entity.topic));
            config["value_template"] = json!(entity.value);
            if entity.component == "sensor" {
                config["json_attributes_topic"] = config["state_topic"].clone();
            }
            for (key, value) in (entity.more)().as_object().into_iter().flatten() {
                config[key] = value.clone();
            }
            (topic(entity.component, entity.object), config)
        })
        .collect();
    let mut event = shared("event", "Event", "mdi:flag-checkered");
    event["state_topic"] = json!(topics::of(prefix, board, "event"));
    event["event_types"] = json!(EVENT_TYPES);
    all.push((topic("event", "event"), event));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn everything_is_announced_once_with_a_topic_that_is_published() {
        let configs = configs("homeassistant", "hall/crokeye", "2");
        let ids: BTreeSet<String> = configs.iter().map(|(_, config)| config["unique_id"].to_string()).collect();
        assert_eq!(ids.len(), configs.len());
        let published = topics::retained("hall/crokeye", "2", &Value::Null).map(|(topic, _)| topic);
        for (topic, config) in &configs {
            let parts: Vec<&str> = topic.split('/').collect();
            assert!(parts.len() == 5 && parts[2] == "hall_crokeye_2", "{topic}");
            let state = config["state_topic"].as_str().unwrap();
            assert!(state == "hall/crokeye/2/event" || published.iter().any(|topic| topic == state), "{state}");
            assert_eq!(config["availability_topic"], "hall/crokeye/status");
        }
    }
}
