/** A cloud of real processes is backed up, lost with all its disks, and begins again from the backup. */
import { afterAll, describe, expect, test } from "vitest";
import { adminToken, deployment, request, serviceAddress } from "./cloud.ts";
import { lostAndRestored, namesIn } from "./lost-cloud.ts";
import { startRig, volumes, type Rig } from "./rig.ts";
import { whenReady } from "./whole-cloud.ts";

const SERVICES = ["glance", "placement"] as const;

describe("a backup of a cloud of real processes", () => {
  let rig: Rig | undefined;

  afterAll(async () => {
    await rig?.close();
  });

  test("brings databases, passwords and keys back on empty disks: the same token, projects, images and providers", async () => {
    rig = await startRig();
    rig.apply(volumes());
    rig.apply(deployment(SERVICES));
    await whenReady(rig);
    const token = await adminToken(rig);
    const create = async (component: string, path: string, body: object) => {
      const url = `http://${serviceAddress(rig!, component)}:${path}`;
      expect((await request(rig!, "POST", url, { token, body })).status).toBeLessThan(300);
    };
    await create("keystone-api", "5000/v3/projects", { project: { name: "kept" } });
    await create("glance-api", "9292/v2/images", { name: "kept", disk_format: "raw", container_format: "bare" });
    await create("placement-api", "8778/resource_providers", { name: "kept" });
    const before = await namesIn(rig, token);
    expect(before).toMatchObject({ images: ["kept"], providers: ["kept"] });

    rig = await lostAndRestored(rig, {
      name: "Keystone, Glance and Placement",
      rig: {},
      deployment: (more) => deployment(SERVICES, more),
      tooLate: () => create("keystone-api", "5000/v3/projects", { project: { name: "too late" } }),
    });
    // The token is from before the loss; the password of its user is, too.
    expect(await namesIn(rig, token)).toEqual(before);
    expect(await namesIn(rig, await adminToken(rig))).toEqual(before);
  });
});
