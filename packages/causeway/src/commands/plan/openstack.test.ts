import { expect, test } from "vitest";
import { renderPreview } from "./openstack.ts";

const nothing = { restarts: [], reruns: [], creates: [], touches: [], deletes: [], images: [] };
const image = {
  image: "registry.example.org/cinder:2025.1-00ff",
  base: "registry.example.org/cinder:2025.1",
  digest: "00ff",
  containerfile: "FROM registry.example.org/cinder:2025.1\nUSER 0\n",
};

test("plan openstack prints how to build the images that pods will use, and what is replaced for them", () => {
  expect(renderPreview({ ...nothing, images: [image], restarts: [{ component: "cinder-api", pods: 2 }] })).toBe(
    [
      "Images that have to be in the registry before:",
      "  registry.example.org/cinder:2025.1-00ff",
      "  | FROM registry.example.org/cinder:2025.1",
      "  | USER 0",
      "Components whose pods are replaced, in this order:",
      "  cinder-api (2 pods)",
      "",
    ].join("\n"),
  );
});

test("plan openstack says which upgrade it compares with, where another one comes first", () => {
  const text = renderPreview({ ...nothing, first: "2023.1", reruns: ["nova-upgrade-check"] });
  expect(text.split("\n")[0]).toBe("The upgrade to 2023.1 comes first. Compare again when it is over.");
});

test("plan openstack says so where nothing would change", () => {
  expect(renderPreview(nothing)).toBe("Nothing would change.\n");
});
