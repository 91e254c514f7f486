/** What the phase import says of its steps, waits and refusals. */
import { describe, expect, test } from "vitest";
import { outcome, record } from "../../testing/planned.ts";
import { planImport, type ImportFacts } from "./plan.ts";

describe("the phase import", () => {
  const peerURL = "https://192.0.2.1:2380";
  const own = { id: "9", name: "hosted", peerURLs: [peerURL], isLearner: false };
  const imported: ImportFacts = {
    secrets: { ca: true, proxy: true, sa: true, etcd: true },
    hasCaKey: true,
    hasObjects: true,
    peerURL,
    wantedStage: "Follow",
    stage: "Follow",
    members: [own],
    etcdVersion: "3.6.0",
    peerHost: "192.0.2.1",
    isLoopback: false,
    elsewhere: ["10.0.0.4"],
    problem: undefined,
  };
  const planned = (changes: Partial<ImportFacts>) => planImport({ ...imported, ...changes }, record);

  test("says what its last steps do", () => {
    const what = (changes: Partial<ImportFacts>) => planned(changes).steps.map((step) => step.what);
    expect(what({ wantedStage: "Reserve" })).toEqual(["start the hosted etcd"]);
    expect(what({ members: [{ ...own, isLearner: true }] })).toEqual([
      "make the hosted etcd a voting member, when it is in sync",
    ]);
  });

  test("waits for the hosted etcd while the runtime has only its ports, and for ports with the controller's problem", () => {
    expect(planned({ stage: "Reserve" })).toMatchObject({ steps: [], wait: "the hosted etcd to start" });
    const wait = "the hosted control plane to reserve its ports";
    expect(planned({ peerURL: undefined }).wait).toBe(wait);
    expect(planned({ peerURL: undefined, problem: "disk full" }).wait).toBe(`${wait}: disk full`);
  });

  test("continues where a runtime has ports, whatever its controller reports", () => {
    expect(outcome(planned({ problem: "RUNTIME_CANNOT_JOIN" }))).toBe("done");
  });

  test("says what to do where it is refused", () => {
    const peer = planned({ hasObjects: false, isLoopback: true });
    expect(peer.refused?.hint).toBe(
      "Set --peer-host to the address of the hosted control plane's machine at which the masters reach it.",
    );
    const runtime = planned({ peerURL: undefined, problem: "RUNTIME_CANNOT_JOIN" });
    expect(runtime.refused?.hint).toMatch(/causeway up --runtime process .* Then run import again, or rollback\.$/);
  });
});
