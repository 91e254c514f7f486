import { describe, expect, it } from "vitest";
import { deletionsHeld, isDeletion } from "./deletions.ts";

describe("a deletion", () => {
  it.each([
    ["compute", "/servers/{id}"],
    ["compute", "/os-server-groups/{id}"],
    ["block-storage", "/volumes/{id}"],
    ["block-storage", "/snapshots/{id}"],
    ["shared-file-system", "/shares/{id}"],
    ["network", "/ports/{id}"],
    ["network", "/trunks/{id}"],
    ["network", "/networks/{id}"],
    ["network", "/subnets/{id}"],
    ["network", "/routers/{id}"],
    ["network", "/floatingips/{id}"],
    ["network", "/security-groups/{id}"],
    ["load-balancer", "/loadbalancers/{id}"],
    ["key-manager", "/secrets/{id}"],
    ["object-store", "/{id}/{id}"],
    ["image", "/images/{id}"],
    ["orchestration", "/stacks/{id}/{id}"],
  ])("is the DELETE of a whole resource of %s: %s", (service, route) => {
    expect(isDeletion({ service, method: "DELETE", route })).toBe(true);
    expect(isDeletion({ service, method: "GET", route, deletes: true })).toBe(false);
    expect(isDeletion({ service, method: "PUT", route })).toBe(false);
    expect(isDeletion({ service, method: "PUT", route, deletes: true })).toBe(true);
  });

  it.each([
    ["compute", "/servers/{id}/os-volume_attachments/{id}"],
    ["compute", "/servers/{id}/os-interface/{id}"],
    ["compute", "/servers/{id}/metadata/{id}"],
    ["network", "/security-group-rules/{id}"],
    ["network", "/ports/{id}/tags/{id}"],
    ["load-balancer", "/pools/{id}/members/{id}"],
    ["load-balancer", "/listeners/{id}"],
    ["block-storage", "/attachments/{id}"],
    ["image", "/images/{id}/members/{id}"],
    ["identity", "/auth/tokens"],
    ["constructor", "/{id}"],
  ])("is not the DELETE of a part or a link of %s: %s", (service, route) => {
    expect(isDeletion({ service, method: "DELETE", route })).toBe(false);
  });

  it("that is held reports the code and who holds it, and no place of the operator", () => {
    const { code, message, hint } = deletionsHeld({ service: "network", method: "DELETE", route: "/ports/{id}" });
    expect([code, message, hint]).toEqual([
      "CLOUD_DELETIONS_HELD",
      "Deletions are held by the operator (CLOUD_DELETIONS_HELD).",
      undefined,
    ]);
  });
});
