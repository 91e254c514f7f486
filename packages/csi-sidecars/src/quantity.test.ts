import { expect, test } from "vitest";
import { bytesOfQuantity, quantityOfBytes } from "./quantity.ts";

test.each([
  ["1Gi", 1024n ** 3n],
  ["1.5Gi", 1_610_612_736n],
  ["10G", 10n ** 10n],
  ["1e3", 1000n],
  ["100", 100n],
  ["0.1", 1n],
  ["-1", undefined],
  ["8Ei", 2n ** 63n - 1n],
  ["1e99", 2n ** 63n - 1n],
  ["999999999999999999Ei", 2n ** 63n - 1n],
  ["1Zi", undefined],
  ["", undefined],
])("the quantity %s is read in bytes", (text, bytes) => expect(bytesOfQuantity(text)).toBe(bytes));

test.each([
  [1024n ** 3n, "1Gi"],
  [3n * 1024n ** 2n, "3Mi"],
  [1000n, "1000"],
  [0n, "0"],
])("a size of %s bytes is written as a quantity", (bytes, text) => expect(quantityOfBytes(bytes)).toBe(text));
