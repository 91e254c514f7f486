import { expect, test } from "vitest";
import { classOf } from "../tempest/services.ts";
import { mergedRecord, type CloudRecord } from "./suite-record.ts";

const record = (over: Partial<CloudRecord>): CloudRecord => ({
  date: "2026-01-01",
  seconds: 10,
  passed: [],
  failed: {},
  skipped: {},
  ...over,
});

test("a run of some classes replaces what was known of these and leaves the others", () => {
  const old = record({
    passed: ["test_a.A.test_one", "test_b.B.test_one"],
    failed: { "setUpClass (test_c.C)": "no such thing", "test_a.A.test_two": "409" },
    skipped: { "not here": ["test_a.A.test_three", "test_b.B.test_two"] },
  });
  const part = record({
    date: "2026-01-02",
    seconds: 5,
    passed: ["test_a.A.test_two", "test_c.C.test_one"],
    skipped: { "too old": ["test_a.A.test_three"] },
  });
  expect(mergedRecord(old, part, classOf)).toEqual({
    date: "2026-01-02",
    seconds: 15,
    passed: ["test_a.A.test_two", "test_b.B.test_one", "test_c.C.test_one"],
    failed: {},
    skipped: { "not here": ["test_b.B.test_two"], "too old": ["test_a.A.test_three"] },
  });
});

test("the first run of some classes is the record", () => {
  const part = record({ passed: ["test_a.A.test_one"] });
  expect(mergedRecord(undefined, part, classOf)).toEqual(part);
});
