import { CausewayError } from "@causeway/foundation";
import { expect, test } from "vitest";
import { readingOf } from "./phase.ts";

const fail = (error: unknown) => (): Promise<never> => Promise.reject(error);
const refused = new CausewayError("KUBERNETES_FORBIDDEN", "nodes is forbidden");
const unreachable = new CausewayError("KUBERNETES_UNREACHABLE", "connection refused");

test("a rollback keeps why the cluster could not be read, and that it does not pass where one read was refused", async () => {
  const reading = readingOf(new AbortController().signal);
  expect(await reading.of(async () => 1)).toBe(1);
  expect(reading.unread()).toBeUndefined();
  expect(await reading.of(fail(unreachable))).toBeUndefined();
  expect(reading.unread()).toEqual({
    code: "KUBERNETES_UNREACHABLE",
    message: "connection refused",
    isTransient: true,
  });
  await reading.of(fail(refused));
  await reading.of(fail(unreachable));
  expect(reading.unread()).toEqual({ code: "KUBERNETES_FORBIDDEN", message: "nodes is forbidden", isTransient: false });
});

test("a rollback ends with a mistake of the program and when it is interrupted, and does not wait", async () => {
  const controller = new AbortController();
  const reading = readingOf(controller.signal);
  await expect(reading.of(fail(new TypeError("x is not a function")))).rejects.toThrow("x is not a function");
  controller.abort(new Error("interrupted"));
  await expect(reading.of(fail(unreachable))).rejects.toThrow("interrupted");
  expect(reading.unread()).toBeUndefined();
});
