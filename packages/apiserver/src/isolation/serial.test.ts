import { expect, test } from "vitest";
import { Serial } from "./serial.ts";

test("work of one name runs in order, also after a failure, and work of another name does not wait for it", async () => {
  const serial = new Serial();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const failed = serial.run("a", async () => {
    await first.promise;
    done.push("a1");
    throw new Error("refused");
  });
  const second = serial.run("a", async () => done.push("a2"));
  await serial.run("b", async () => done.push("b1"));
  expect(done).toEqual(["b1"]);
  first.resolve();
  await expect(failed).rejects.toThrow("refused");
  await second;
  expect(done).toEqual(["b1", "a1", "a2"]);
});
