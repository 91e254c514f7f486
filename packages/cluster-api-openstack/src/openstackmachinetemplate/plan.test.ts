import type { OpenStackMachine, OpenStackMachineTemplate } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { flavors, images, now, openStackMachine } from "../testing/objects.ts";
import type { Observed } from "./model.ts";
import { plan as planTemplate } from "./plan.ts";

type Spec = OpenStackMachineTemplate["spec"]["template"]["spec"];

const templateOf = (spec: Partial<Spec> = {}): OpenStackMachineTemplate => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "OpenStackMachineTemplate",
  metadata: { name: "workers", namespace: "default", generation: 1 },
  spec: {
    template: { spec: { flavor: { filter: { name: "m1.small" } }, image: { filter: { name: "cirros" } }, ...spec } },
  },
});

function plan(object: OpenStackMachineTemplate, more: Partial<Observed> = {}) {
  const cloud = { flavors, images };
  return planTemplate(
    { object, paused: false, identity: { ok: true, cloud }, image: undefined, machines: [], ...more },
    now,
  );
}

const readyOf = ({ status }: ReturnType<typeof plan>): string => {
  const condition = status.conditions?.find((c) => c.type === "Ready");
  return `${condition?.status} ${condition?.reason}`;
};

describe("the capacity of a template", () => {
  it.each<[string, Partial<Spec>, object]>([
    ["of its flavor by name", {}, { cpu: "1", memory: "2048Mi", "ephemeral-storage": "20Gi" }],
    ["of its flavor by id", { flavor: { id: "1" } }, { cpu: "1", memory: "512Mi", "ephemeral-storage": "1Gi" }],
    [
      "with the root volume's size",
      { rootVolume: { sizeGiB: 50 } },
      { cpu: "1", memory: "2048Mi", "ephemeral-storage": "50Gi" },
    ],
  ])("is that %s", (_name, spec, capacity) => {
    const result = plan(templateOf(spec));
    expect(result.status.capacity).toEqual(capacity);
    expect(readyOf(result)).toBe("True CapacityKnown");
    expect(result.wait).toBeUndefined();
  });

  it("has no disk where the flavor has none", () => {
    const cloud = { flavors: flavors.map((f) => ({ ...f, disk: 0 })), images };
    expect(plan(templateOf(), { identity: { ok: true, cloud } }).status.capacity).toEqual({
      cpu: "1",
      memory: "2048Mi",
    });
  });

  it("comes with the system and architecture of the image", () => {
    const described = images.map((i) => ({ ...i, os_type: "Linux", hw_architecture: "aarch64" }));
    const identity = { ok: true, cloud: { flavors, images: described } } as const;
    const nodeInfo = { operatingSystem: "linux", architecture: "arm64" };
    expect(plan(templateOf(), { identity }).status.nodeInfo).toEqual(nodeInfo);
    const imageRef = templateOf({ image: { imageRef: { name: "node" } } });
    expect(plan(imageRef, { identity, image: { name: "node", id: "img-2" } }).status.nodeInfo).toEqual(nodeInfo);
    expect(plan(imageRef, { identity, image: { name: "node" } }).status).not.toHaveProperty("nodeInfo");
    expect(plan(templateOf()).status).not.toHaveProperty("nodeInfo");
  });

  const gone = { deletionTimestamp: "2026-11-21T00:00:00Z" };
  it("is left as it is while the template is paused or being deleted", () => {
    const status = { capacity: { cpu: "4" } };
    const object = { ...templateOf(), status };
    expect(plan(object, { paused: true })).toEqual({ steps: [], status });
    expect(plan({ ...object, metadata: { ...object.metadata, ...gone } })).toEqual({ steps: [], status });
    expect(plan(object, { identity: undefined })).toEqual({ steps: [], status });
  });

  it("is left as it is while the cloud limits the rate of requests", () => {
    const identity = { ok: false, reason: "RateLimited", message: "later", until: now + 5 } as const;
    const status = { capacity: { cpu: "4" } };
    const limited = plan({ ...templateOf(), status }, { identity });
    expect(limited).toEqual({ steps: [], status, wait: { for: "later", until: now + 5 } });
  });

  const twins = ["img-1", "img-2", "img-3"].map((id) => ({
    ...images[0],
    id,
    name: id === "img-3" ? "cirros" : "node",
    tags: id === "img-2" ? ["blue", "v1"] : ["blue"],
    os_type: id === "img-2" ? "linux" : "windows",
  })) as unknown as typeof images;
  it.each<[string, Spec["image"], string | undefined]>([
    ["the one with the name", { filter: { name: "cirros" } }, "windows"],
    ["the one with all tags", { filter: { tags: ["blue", "v1"] } }, "linux"],
    ["the one with name and tags", { filter: { name: "node", tags: ["v1"] } }, "linux"],
    ["the one with the ID", { id: "img-2" }, "linux"],
    ["none, where several have the name", { filter: { name: "node" } }, undefined],
    ["none, where several have the tags", { filter: { tags: ["blue"] } }, undefined],
    ["none, without a filter", { filter: {} }, undefined],
  ])("has the system of the image that is %s", (_, image, system) => {
    const identity = { ok: true, cloud: { flavors, images: twins } } as const;
    expect(plan(templateOf({ image }), { identity }).status.nodeInfo?.operatingSystem).toBe(system);
  });

  it("has no system of an image that the template does not name, also where there is only one", () => {
    const identity = { ok: true, cloud: { flavors, images: twins.slice(0, 1) } } as const;
    expect(plan(templateOf({ image: { filter: {} } }), { identity }).status).not.toHaveProperty("nodeInfo");
  });

  it.each<[string, Spec["flavor"], string]>([
    ["by its name", { filter: { name: "gone" } }, "gone"],
    ["by its ID", { id: "9" }, "9"],
    ["that two have", { filter: { name: "twin" } }, "twin"],
    ["without a name", {}, ""],
  ])("is not known of a flavor that cannot be found %s", (_, flavor, name) => {
    const all = [...flavors, ...["3", "4"].map((id) => ({ ...flavors[0], id, name: "twin" }))] as typeof flavors;
    const { status, wait } = plan(templateOf({ flavor }), { identity: { ok: true, cloud: { flavors: all, images } } });
    const message = `The project has no flavor, or several, called ${name}`;
    expect(status.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "FlavorNotFound", message }]);
    expect(wait).toEqual({ for: message, until: now + 60_000 });
  });

  it("remains as it was while the flavor is unknown, which is read again", () => {
    const object = { ...templateOf({ flavor: { filter: { name: "gone" } } }), status: { capacity: { cpu: "4" } } };
    const result = plan(object);
    expect(result.status.capacity).toEqual({ cpu: "4" });
    expect(readyOf(result)).toBe("False FlavorNotFound");
    expect(result.wait?.until).toBe(now + 60_000);
  });

  it("is not known without credentials that work, and of no cluster nothing is said", () => {
    const refused = plan(templateOf(), { identity: { ok: false, reason: "InvalidIdentity", message: "no Secret" } });
    expect(readyOf(refused)).toBe("False InvalidIdentity");
    expect(plan(templateOf(), { identity: undefined })).toEqual({ steps: [], status: {} });
    expect(plan(templateOf(), { paused: true })).toEqual({ steps: [], status: {} });
  });
});

describe("the address pairs of a template", () => {
  const pairs = [{ ipAddress: "10.244.0.0/16" }];
  const machine = (ports: Spec["ports"]): OpenStackMachine => openStackMachine({ ports: ports ?? [] });

  it.each<[string, Spec["ports"], Spec["ports"], Spec["ports"] | undefined]>([
    [
      "new pairs",
      [{ allowedAddressPairs: pairs }, {}],
      [{}, {}],
      [{ allowedAddressPairs: pairs }, { allowedAddressPairs: [] }],
    ],
    ["no pairs any more", [{}], [{ allowedAddressPairs: pairs }], [{ allowedAddressPairs: [] }]],
    ["the same pairs", [{ allowedAddressPairs: pairs }], [{ allowedAddressPairs: pairs }], undefined],
    ["pairs of another port", [{ nameSuffix: "a", allowedAddressPairs: pairs }], [{ nameSuffix: "b" }], undefined],
    ["more ports", [{ allowedAddressPairs: pairs }, {}], [{}], undefined],
    ["none, where the machine has an empty list", [{}], [{ allowedAddressPairs: [] }], undefined],
  ])("reach its machines with %s", (_name, wanted, has, expected) => {
    const { steps } = plan(templateOf({ ports: wanted ?? [] }), { machines: [machine(has)] });
    expect(steps.every((step) => step.type === "set-address-pairs")).toBe(true);
    expect(steps.map((step) => step.ports)).toEqual(expected ? [expected] : []);
  });

  it("leave a machine alone that is being deleted", () => {
    const leaving = machine([{}]);
    leaving.metadata.deletionTimestamp = "2026-11-21T00:00:00Z";
    expect(plan(templateOf({ ports: [{ allowedAddressPairs: pairs }] }), { machines: [leaving] }).steps).toEqual([]);
  });
});
