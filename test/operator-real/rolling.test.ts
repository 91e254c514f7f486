/** A whole cloud of real processes whose APIs are rolled under load, and with a configuration that does not start. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { NAME, podsOf, serviceAddress, statusOf } from "./cloud.ts";
import { TIMEOUT, type Rig } from "./rig.ts";
import { roll, underLoad } from "./under-load.ts";
import { restarted, startWholeCloud, whenReady, wholeCloud } from "./whole-cloud.ts";

/** An option that changes nothing that is tested here. */
const unused = (option: string, value: string) => ({ section: "DEFAULT", option, value });

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;

  beforeAll(async () => {
    ({ rig } = await startWholeCloud());
  });

  afterAll(async () => {
    await rig?.close();
  });

  test.each([
    ["Glance", "glance-api", "9292/versions", { glance: [unused("limit_param_default", "26")] }],
    ["Neutron", "neutron-server", "9696/", { neutron: [unused("dhcp_lease_duration", "86401")] }],
  ] as const)("rolling the API of %s under 50 requests a second fails none of them", async (_, api, path, options) => {
    const url = `http://${serviceAddress(rig, api)}:${path}`;
    const result = await underLoad(rig, { url, perSecond: 50 }, [
      `${api} is rolled`,
      () => roll(rig, api, wholeCloud(options)),
    ]);
    expect(result.examples).toEqual([]);
    expect(result.sent).toBeGreaterThan(500);
  });

  test("a configuration that a service does not start with leaves the old pods serving, and is named", async () => {
    const url = `http://${serviceAddress(rig, "glance-api")}:9292/versions`;
    // An option that exists, with a value that no check of types can refuse.
    const bad = { glance: [{ section: "paste_deploy", option: "flavor", value: "missing" }] };
    const component = () => statusOf(rig).components?.find(({ name }) => name === "glance-api");
    const result = await underLoad(rig, { url, perSecond: 20 }, [
      "a rollout of glance-api that fails",
      async () => {
        rig.apply(wholeCloud(bad));
        await eventually(TIMEOUT, () => /restart|probe|start/i.test(component()?.rootCause ?? ""));
        await new Promise((resolve) => setTimeout(resolve, 20_000));
      },
    ]);
    expect(result.examples).toEqual([]);
    expect(podsOf(rig, "glance-api").length).toBeGreaterThan(1);
    rig.apply(wholeCloud());
    await whenReady(rig);
    // The pod that never served ends in its grace.
    await eventually(180_000, () => podsOf(rig, "glance-api").length === 1);
    expect(restarted(rig).filter(([name]) => !name.startsWith(`${NAME}-glance-api`))).toEqual([]);
  });
});
