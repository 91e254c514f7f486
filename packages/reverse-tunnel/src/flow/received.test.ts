import { expect, test } from "vitest";
import { free, Received } from "./received.ts";

test("the memory of a read is freed when its last user ended", () => {
  const chunk = Buffer.allocUnsafeSlow(100);
  const received = new Received(chunk);
  received.use();
  received.end();
  expect(chunk).toHaveLength(100);
  received.end();
  expect(chunk).toHaveLength(0);
});

test("a part of other memory is not freed", () => {
  const whole = Buffer.allocUnsafeSlow(100);
  free(whole.subarray(50));
  free(whole.subarray(0, 50));
  free(Buffer.alloc(0));
  expect(whole).toHaveLength(100);
  const pooled = Buffer.from("pooled");
  free(pooled);
  expect(String(pooled)).toBe("pooled");
});
