import { expect, test } from "vitest";
import { annotation } from "../names.ts";
import { parametersOf } from "./parameters.ts";

const of = (annotations: Record<string, string>, family?: 4 | 6) =>
  parametersOf({ metadata: { name: "web", annotations } }, true, family);

test.each<[string, string, 4 | 6 | undefined, readonly string[], string | undefined]>([
  ["of the VIP's family", "10.0.0.0/8", 4, ["10.0.0.0/8"], undefined],
  ["of the other family", "fd00::/8", 4, ["fd00::/8"], "fd00::/8 is not of IPv4"],
  ["of the other family, for a VIP of IPv6", "10.0.0.0/8", 6, ["10.0.0.0/8"], "10.0.0.0/8 is not of IPv6"],
  ["of any family while the VIP's is not known", "fd00::/8", undefined, ["fd00::/8"], undefined],
  ["with host bits", "10.1.2.3/8, fd00:0::1/8", undefined, ["10.0.0.0/8", "fd00::/8"], undefined],
  ["that is none", "10.0.0.0/33", 4, [], "10.0.0.0/33 is not a CIDR"],
])("a source range %s is read or refused: %s", (_, text, family, ranges, problem) => {
  const { sourceRanges, problems } = of({ [annotation.sourceRanges]: text }, family);
  expect(sourceRanges).toEqual(ranges);
  expect(problems).toEqual(problem === undefined ? [] : [expect.stringContaining(problem)]);
});

test.each<[string, number | undefined, boolean]>([
  ["0", 0, true],
  ["86400000", 86_400_000, true],
  ["86400001", undefined, false],
  ["-5", undefined, false],
  ["999999999", undefined, false],
  ["a minute", undefined, true],
])("a timeout of %s is read or refused", (text, value, isGood) => {
  const { timeouts, problems } = of({ [annotation.timeoutClientData]: text });
  expect(timeouts.clientData).toBe(value);
  expect(problems.length === 0).toBe(isGood);
});
