import { expect, test } from "vitest";
import { classOwner, describedOwner, gatewayOwner, ingressOwner } from "./names.ts";

test("finds the owner of a floating IP by its description, whatever became of its load balancer", () => {
  const key = { namespace: "shop", name: "web", uid: "u" };
  const of = (description: string) => describedOwner("prod", description);
  expect(of(ingressOwner("prod", key).floatingIpDescription)).toEqual({ namespace: "shop", name: "web" });
  expect(of(classOwner("prod", key).floatingIpDescription)).toEqual({ namespace: "", name: "web" });
  expect(of(ingressOwner("other", key).floatingIpDescription)).toBeUndefined();
  expect(of(gatewayOwner("prod", key).floatingIpDescription)).toBeUndefined();
  expect(of("")).toBeUndefined();
});
