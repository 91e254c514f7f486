import { CausewayError } from "@causeway/foundation";
import { describe, expect, it } from "vitest";
import { publishedMessage, refusalOf } from "./refusals.ts";

const refused = (requestId: string, code = "OPENSTACK_QUOTA_EXCEEDED") =>
  new CausewayError(code, "POST compute /servers responded 403: Quota exceeded for instances", {
    details: { status: 403, requestId },
  });

describe("a refusal of a cloud", () => {
  it("has the request's id, by which its operator finds it", () => {
    expect(refusalOf(refused("req-1"), "InstanceCreateFailed")).toMatchObject({
      reason: "QuotaExceeded",
      message: expect.stringMatching(/^POST .*instances \(request req-1\) Request a higher quota/) as string,
    });
    expect(refusalOf(new Error("no answer"), "InstanceCreateFailed").message).toBe("no answer");
    expect(refusalOf(refused("x\n(y)"), "InstanceCreateFailed").message).not.toContain("request x");
  });

  it("of the credentials says so whatever the step was, and is lifted by others at once", () => {
    const refusal = refusalOf(refused("req-1", "OPENSTACK_UNAUTHORIZED"), "InstanceDeleteFailed");
    expect(refusal).toMatchObject({ reason: "AuthenticationFailed" });
    expect(refusal.pause).toBeUndefined();
  });

  it("of a deletion that the operator holds is left alone for a minute", () => {
    expect(refusalOf(new CausewayError("CLOUD_DELETIONS_HELD", "held"), "InstanceDeleteFailed")).toEqual({
      reason: "DeletionsHeld",
      message: "held",
      pause: 60_000,
    });
  });

  it("of a step that knows why has its advice and its pause, and a failure without a refusal has neither", () => {
    const refusal = { pause: 600_000, advice: "Recreate it" };
    const conflict = new CausewayError("OPENSTACK_CONFLICT", "in use", { details: { status: 409 } });
    expect(refusalOf(conflict, "TrunkUpdateFailed", { refusal })).toEqual({
      reason: "TrunkUpdateFailed",
      message: "in use Recreate it",
      pause: 600_000,
    });
    expect(refusalOf(new Error("no answer"), "TrunkUpdateFailed", { refusal })).toEqual({
      reason: "TrunkUpdateFailed",
      message: "no answer",
    });
  });

  it("keeps the id of the first request while nothing else is new", () => {
    const first = refusalOf(refused("req-1"), "InstanceCreateFailed").message;
    expect(refusalOf(refused("req-2"), "InstanceCreateFailed", { known: first }).message).toBe(first);
    expect(refusalOf(refused("req-2"), "InstanceCreateFailed", { known: "another failure" }).message).toContain(
      "req-2",
    );
    const object = {
      status: { conditions: [{ type: "InstanceReady", status: "False", reason: "x", message: first }] },
    };
    expect(publishedMessage(object as unknown as Parameters<typeof publishedMessage>[0], "InstanceReady")).toBe(first);
    expect(publishedMessage({}, "InstanceReady")).toBeUndefined();
  });
});
