import { expect, test } from "vitest";
import { Operations } from "./operations.ts";

const signal = new AbortController().signal;
const pause = () => new Promise<void>((done) => setImmediate(done));

test("a repeated request receives the result of the first", async () => {
  const operations = new Operations();
  const gate = Promise.withResolvers<string>();
  let begun = 0;
  const work = () => {
    begun += 1;
    return gate.promise;
  };
  const first = operations.run({ key: "v", request: "attach n1", signal }, work);
  const second = operations.run({ key: "v", request: "attach n1", signal }, work);
  gate.resolve("done");
  expect(await Promise.all([first, second])).toEqual(["done", "done"]);
  expect(begun).toBe(1);
  expect(operations.size).toBe(0);
});

test("another request for a busy key fails with ABORTED, and other keys are free", async () => {
  const operations = new Operations();
  const gate = Promise.withResolvers<string>();
  const first = operations.run({ key: "v", request: "attach n1", signal }, () => gate.promise);
  await expect(operations.run({ key: "v", request: "attach n2", signal }, () => gate.promise)).rejects.toMatchObject({
    code: "CSI_ABORTED",
  });
  expect(await operations.run({ key: "w", request: "attach n2", signal }, () => Promise.resolve("other"))).toBe(
    "other",
  );
  gate.resolve("done");
  expect(await first).toBe("done");
  expect(await operations.run({ key: "v", request: "attach n2", signal }, () => Promise.resolve("next"))).toBe("next");
});

test("work is ended when its last caller leaves, and its key is busy until it has ended", async () => {
  const operations = new Operations();
  const [one, two] = [new AbortController(), new AbortController()];
  const gate = Promise.withResolvers<void>();
  let ended = false;
  const work = async (all: AbortSignal) => {
    all.addEventListener("abort", () => (ended = true));
    await gate.promise;
  };
  const first = operations.run({ key: "v", request: "r", signal: one.signal }, work);
  const second = operations.run({ key: "v", request: "r", signal: two.signal }, work);
  one.abort(new Error("left"));
  await expect(first).rejects.toThrow("left");
  expect(ended).toBe(false);
  two.abort(new Error("left"));
  await expect(second).rejects.toThrow("left");
  expect(ended).toBe(true);
  await expect(operations.run({ key: "v", request: "r", signal }, work)).rejects.toMatchObject({ code: "CSI_ABORTED" });
  gate.resolve();
  await pause();
  expect(operations.size).toBe(0);
});

test("work that fails at once frees its key", async () => {
  const operations = new Operations();
  const fail = (): Promise<never> => {
    throw new Error("no");
  };
  await expect(operations.run({ key: "v", request: "r", signal }, fail)).rejects.toThrow("no");
  expect(operations.size).toBe(0);
});
