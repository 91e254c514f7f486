import { CausewayError } from "@causeway/foundation";
import { expect, test } from "vitest";
import { isRefusal } from "./refusal.ts";

test.each([
  ["CLOUD_DELETIONS_HELD", true],
  ["OPENSTACK_QUOTA_EXCEEDED", true],
  ["OPENSTACK_UNAVAILABLE", false],
])("whether the same step would be refused again after %s", (code, expected) => {
  expect(isRefusal(new CausewayError(code, "x"))).toBe(expected);
});
