import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

/** Collections without a case of the contract, most of them read only by administrators. */
const WITHOUT = [
  "block-storage groupSnapshots",
  "block-storage groupTypes",
  "cloud healthMonitors",
  "compute-extras aggregates",
  "compute-extras hosts",
  "compute-extras hypervisors",
  "container-infrastructure clusters",
  "key-manager orders",
  "load-balancing-extras amphorae",
  "load-balancing-extras availabilityZoneProfiles",
  "load-balancing-extras flavorProfiles",
  "load-balancing-extras l7Policies",
  "network-extensions addressScopes",
  "network-extensions agents",
  "network-extensions ipAvailabilities",
  "shared-file-system userMessages",
];

const read = (file: string): string => readFileSync(file, "utf8");
const root = join(import.meta.dirname, "..");

test("each collection of a service has a case of the contract, but for those that are listed", () => {
  const cases = globSync(join(root, "contract/*-cases.ts")).map(read).join("\n");
  const collections = globSync(join(root, "types/*.ts")).flatMap((file) =>
    [...read(file).matchAll(/readonly (\w+):\s*(?:Pick<)?\s*(?:ReadOnly|Key)?Collection</g)].map(([, name = ""]) => ({
      name,
      of: `${basename(file, ".ts")} ${name}`,
    })),
  );
  const without = collections.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(cases)).map(({ of }) => of);
  expect(collections.length).toBeGreaterThan(60);
  expect(without.toSorted()).toEqual(WITHOUT);
});

test("the README names each service of a Cloud", () => {
  const services = [...read(join(root, "types/cloud.ts")).matchAll(/readonly (\w+): \w+Service;/g)].map(
    ([, name = ""]) => name,
  );
  const readme = read(join(root, "../README.md"));
  expect(services.length).toBeGreaterThan(12);
  expect(services.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
