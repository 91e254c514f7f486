import { expect, it } from "vitest";
import { full, settle, world } from "../testing/cluster-world.ts";
import { withNameIndex } from "../testing/name-index.ts";
import { now } from "../testing/objects.ts";
import { interestsOf } from "./interests.ts";
import { plan } from "./plan.ts";

it("with an index of names, no list of routers and security groups is read for a cluster at rest", () => {
  const w = world(full);
  const atRest = settle(w);
  const refused = (): never => {
    throw new Error("the list was read");
  };
  const cloud = Object.defineProperties(withNameIndex(w.cloud.forCluster()), {
    routers: { get: refused, enumerable: true },
    securityGroups: { get: refused, enumerable: true },
  });
  const { object, machines, bastion } = w;
  const observed = { object, machines, bastion, clusterName: "demo", paused: false } as const;
  expect(plan({ ...observed, identity: { ok: true, cloud } }, now)).toEqual(atRest);
  const interests = [...interestsOf({ ...observed, crn: "default-demo" }, cloud)];
  expect(interests).toEqual([...interestsOf({ ...observed, crn: "default-demo" }, w.cloud.forCluster())]);
});
