/**
 * Keystone, Glance and Placement of real processes are upgraded from release to release, by operators that are killed.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RELEASE, REGISTRY } from "../../scripts/openstack-images/build.ts";
import { LATER_RELEASES, openStackReleases } from "../../scripts/openstack-releases/build.ts";
import { eventually } from "../support/processes.ts";
import { adminToken, deployment, podsOf, request, serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";
import { underLoad } from "./under-load.ts";
import { seconds, whenReady } from "./whole-cloud.ts";

/** Databases, broker and cache have versions of their own: with the release they remain as they are. */
const BACKENDS = ["mariadb", "rabbitmq", "memcached"];

function cloudOf(release: string): object {
  const services = ["glance", "placement"] as const;
  const { spec } = deployment(services) as { spec: { services: { name: string }[] } };
  const pinned = spec.services.map((each) =>
    BACKENDS.includes(each.name) ? { ...each, image: `${REGISTRY}/${each.name}:${RELEASE}` } : each,
  );
  return deployment(services, { release, services: pinned });
}

describe("a cloud of real processes with Keystone, Glance and Placement", () => {
  let rig: Rig;
  const keystone = () => `http://${serviceAddress(rig, "keystone-api")}:5000/v3`;

  beforeAll(async () => {
    rig = await startRig({ images: [await openStackReleases()] });
    rig.apply(volumes());
    rig.apply(cloudOf(RELEASE));
    await whenReady(rig);
  });

  afterAll(async () => {
    await rig?.close();
  });

  test.each(LATER_RELEASES)(
    "is upgraded to %s while the operator is killed at each step, and Keystone answers every request",
    async (release) => {
      const token = await adminToken(rig);
      const made = await request(rig, "POST", `${keystone()}/projects`, {
        token,
        body: { project: { name: `before-${release}` } },
      });
      expect(made.status).toBe(201);
      const began = Date.now();
      const killedAt: string[] = [];
      const url = `${keystone()}/projects`;
      const result = await underLoad(rig, { url, perSecond: 20, token }, [
        `an upgrade to ${release}`,
        async () => {
          rig.apply(cloudOf(release));
          await eventually(TIMEOUT, async () => {
            const { upgrade, phase, release: now } = statusOf(rig);
            if (upgrade && !killedAt.includes(upgrade.step)) {
              console.log(`${new Date().toISOString()} ${upgrade.step}: the operator is killed`);
              killedAt.push(upgrade.step);
              await rig.killOperator();
            }
            return now === release && phase === "Ready";
          });
        },
      ]);
      record(`upgrade to ${release}`, { seconds: seconds(Date.now() - began), kills: killedAt.length });
      expect(result.examples).toEqual([]);
      expect(result.sent).toBeGreaterThan(200);
      expect(killedAt.length).toBeGreaterThanOrEqual(3);
      // The token of the release before is accepted, and its rows are there.
      const projects = await request(rig, "GET", `${keystone()}/projects?name=before-${release}`, { token });
      expect(JSON.parse(projects.body)).toMatchObject({ projects: [{ name: `before-${release}` }] });
      const [pod = ""] = podsOf(rig, "keystone-api");
      const images = rig.get<{ spec: { containers: { image: string }[] } }>("pod", pod).spec.containers;
      expect(images[0]?.image).toBe(`${REGISTRY}/keystone:${release}`);
      const fresh = await adminToken(rig);
      for (const [component, path] of [
        ["glance-api", "9292/v2/images"],
        ["placement-api", "8778/resource_providers"],
      ] as const)
        expect(
          await request(rig, "GET", `http://${serviceAddress(rig, component)}:${path}`, { token: fresh }),
        ).toMatchObject({ status: 200 });
    },
  );
});
