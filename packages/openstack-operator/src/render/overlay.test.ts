import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allComponents } from "../catalogue/index.ts";
import { desire, spec } from "../testing/rendered.ts";
import { imageBuildOf, imageOf } from "./context.ts";
import { overlayOf, type ImagePackages } from "./overlay.ts";

const hash = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const driver = { name: "cinder-driver", version: "1.4.2", hashes: [hash("wheel"), hash("source")] };
const client = { name: "array-client", version: "3.0", hashes: [hash("client")] };
const repository = "registry.example.org/openstack/cinder";
const to = { base: `${repository}:2025.1`, repository, tag: "2025.1" };

const component = (name: string) => {
  const found = allComponents.find((each) => each.name === name);
  if (!found) throw new Error(name);
  return found;
};
const withPackages = (more: object = {}) => ({
  ...spec,
  services: [
    ...(spec.services ?? []).filter(({ name }) => name !== "cinder"),
    { name: "cinder" as const, packages: [driver, client], ...more },
  ],
});

describe("an image with more packages", () => {
  test("is built from a text with each file's hash, and has its digest in its reference", () => {
    const { image, digest, containerfile } = overlayOf([driver, client], to);
    const [first, second] = [hash("wheel"), hash("source")].toSorted();
    expect(containerfile.split("\n")).toEqual([
      "FROM registry.example.org/openstack/cinder:2025.1",
      "USER 0",
      "COPY <<'EOF' /opt/causeway/requirements.txt",
      String.raw`array-client==3.0 \ `.trimEnd(),
      `    --hash=${hash("client")}`,
      String.raw`cinder-driver==1.4.2 \ `.trimEnd(),
      `    --hash=${first} \\`,
      `    --hash=${second}`,
      "EOF",
      "ENV PIP_BREAK_SYSTEM_PACKAGES=1",
      'RUN ["python3","-m","pip","install","--no-cache-dir","--no-deps","--require-hashes","-r","/opt/causeway/requirements.txt"]',
      "",
    ]);
    expect(digest).toBe(createHash("sha256").update(containerfile).digest("hex"));
    expect(image).toBe(`registry.example.org/openstack/cinder:2025.1-${digest.slice(0, 16)}`);
  });

  test("is that of all components of its service and of no other", () => {
    const changed = withPackages();
    for (const name of ["cinder-api", "cinder-volume", "cinder-db-sync"])
      expect(imageOf(changed, component(name))).toBe(imageBuildOf(changed, component("cinder-api"))?.image);
    for (const name of ["nova-api", "cinder-register", "cinder-db-init"])
      expect(imageOf(changed, component(name))).toBe(imageOf(spec, component(name)));
    const images = JSON.stringify(desire({ services: changed.services }).workloads);
    expect(images).toContain(imageOf(changed, component("cinder-api")));
    expect(images).not.toContain(`"${imageOf(spec, component("cinder-api"))}"`);
  });

  test.each([
    ["registry.example.org/own/cinder@sha256:00", "registry.example.org/own/cinder"],
    ["registry.example.org:5000/own/cinder:v1@sha256:00", "registry.example.org:5000/own/cinder"],
    ["registry.example.org:5000/own/cinder", "registry.example.org:5000/own/cinder"],
  ])("extends the administrator's own image %s, and is next to it", (own, place) => {
    const build = imageBuildOf(withPackages({ image: own }), component("cinder-api"));
    expect(build).toMatchObject({ base: own, image: `${place}:2025.1-${build?.digest.slice(0, 16)}` });
  });

  test("is used as it is without packages", () => {
    expect(imageBuildOf(withPackages({ packages: [] }), component("cinder-api"))).toBeUndefined();
    expect(imageBuildOf(spec, component("cinder-api"))).toBeUndefined();
  });
});

test("the same packages make the same build in any order, and another version, hash, package or base another one", () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8})?$/);
  const version = fc.stringMatching(/^[0-9]{1,2}\.[0-9]{1,2}$/);
  const hashes = fc.uniqueArray(fc.constantFrom(...["a", "b", "c", "d"].map(hash)), { minLength: 1, maxLength: 4 });
  const packages = fc.uniqueArray(fc.record({ name, version, hashes }), {
    minLength: 1,
    maxLength: 5,
    selector: (each) => each.name,
  });
  fc.assert(
    fc.property(packages, fc.nat(4), (given, at) => {
      const built = overlayOf(given, to);
      const turned = given.toReversed().map((each) => ({ ...each, hashes: each.hashes.toReversed() }));
      expect(overlayOf(turned, to)).toEqual(built);
      const one = given[at % given.length];
      if (!one) return;
      const others = given.filter((each) => each !== one);
      const changes: ImagePackages[] = [
        [...others, { ...one, version: `${one.version}.1` }],
        [...others, { ...one, hashes: [...one.hashes, hash("another")] }],
        [...given, { ...one, name: `${one.name}-x-y` }],
      ];
      for (const changed of changes) expect(overlayOf(changed, to).image).not.toBe(built.image);
      expect(overlayOf(given, { ...to, base: `${to.base}-x` }).image).not.toBe(built.image);
    }),
    { numRuns: 50 },
  );
});
