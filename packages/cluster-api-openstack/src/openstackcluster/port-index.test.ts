import { expect, it, vi } from "vitest";
import { port } from "../dry-run/resources.ts";
import { ModelCloud } from "../testing/model-cloud.ts";
import { portOf, portsOnDevice } from "./port-index.ts";

it("a port is found alike with an index and without one, which reads none of the others", () => {
  const cloud = new ModelCloud();
  const ports = ["a", "b", "a"].map((device_id) => port(cloud, { device_id }));
  const [first, , third] = ports;
  const portIndex = {
    get: vi.fn((id: string) => ports.find((each) => each.id === id)),
    onDevice: (id: string) => ports.filter(({ device_id }) => device_id === id),
  };
  for (const seen of [{ ports }, { ports: [], portIndex }]) {
    expect(portOf(seen, third?.id)).toBe(third);
    expect(portOf(seen, "none")).toBeUndefined();
    expect(portsOnDevice(seen, "a")).toEqual([first, third]);
    expect(portsOnDevice(seen, "c")).toEqual([]);
  }
  expect(portOf({ ports, portIndex }, undefined)).toBeUndefined();
  expect(portIndex.get).toHaveBeenCalledTimes(2);
});
