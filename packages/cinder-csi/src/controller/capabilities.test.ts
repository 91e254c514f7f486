import { VolumeCapability_AccessMode_Mode as Mode, type VolumeCapability } from "@causeway/csi";
import { expect, test } from "vitest";
import { isSharable, unsupported } from "./capabilities.ts";

const of = (mode: Mode, type: "mount" | "block" = "mount") =>
  ({ accessType: { case: type, value: {} }, accessMode: { mode } }) as unknown as VolumeCapability;

test.each([
  ["a file system of one node", of(Mode.SINGLE_NODE_WRITER), false, false, undefined],
  ["a file system of a single pod", of(Mode.SINGLE_NODE_SINGLE_WRITER), false, false, undefined],
  ["a file system that several nodes read", of(Mode.MULTI_NODE_READER_ONLY), true, true, undefined],
  ["a file system that several nodes write", of(Mode.MULTI_NODE_MULTI_WRITER), true, false, /cannot be written/],
  ["a file system that one node writes and others read", of(Mode.MULTI_NODE_SINGLE_WRITER), true, false, /cannot be/],
  ["a device of several nodes", of(Mode.MULTI_NODE_MULTI_WRITER, "block"), true, true, undefined],
  ["a device of several nodes without multiattach", of(Mode.MULTI_NODE_MULTI_WRITER, "block"), false, true, /allow/],
  ["a volume without an access mode", of(Mode.UNKNOWN, "block"), true, true, /is missing/],
])("the Cinder driver confirms or refuses %s", (_, capability, multiattach, sharable, why) => {
  expect(isSharable(capability)).toBe(sharable);
  const problem = unsupported(capability, multiattach);
  if (why === undefined) expect(problem).toBeUndefined();
  else expect(problem).toMatch(why);
});
