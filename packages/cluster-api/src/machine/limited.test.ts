import { VirtualClock } from "@causeway/foundation";
import { expect, it } from "vitest";
import { limited } from "./limited.ts";

const hanging = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(new Error("the request was aborted"))),
  );

it("lists of a workload cluster that does not respond are given up after 10 s, with a reason that is no abort", async () => {
  const clock = new VirtualClock();
  const outcome = limited(clock, new AbortController().signal, hanging).catch((error: unknown) => error);
  await clock.advance(10_000);
  expect(await outcome).toMatchObject({
    name: "Error",
    message: expect.stringMatching(/workload cluster .* within 10 s/),
  });
});

it("lists of a workload cluster end with the reason of the process's own abort", async () => {
  const stop = new AbortController();
  const outcome = limited(new VirtualClock(), stop.signal, hanging).catch((error: unknown) => error);
  stop.abort("stopped");
  expect(await outcome).toBe("stopped");
});
