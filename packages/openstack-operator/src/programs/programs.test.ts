import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { embedded } from "./embed.ts";
import { allComponents, backupJobs, canaryComponents } from "../catalogue/index.ts";
import { withCells } from "../catalogue/cells.ts";
import { bgp, providerNetworks } from "../catalogue/fabric.ts";
import { spec } from "../testing/rendered.ts";
import { files } from "./files.generated.ts";

describe("the programs that pods mount", () => {
  test("are embedded as they are in programs/", () => {
    const module = readFileSync(join(import.meta.dirname, "files.generated.ts"), "utf8");
    expect(module, "run: node packages/openstack-operator/src/programs/embed.ts").toBe(embedded());
  });

  test.each(Object.keys(files).filter((name) => name.endsWith(".sh")))("%s is a shell program", (name) => {
    execFileSync("/bin/sh", ["-n"], { input: files[name] ?? "" });
    expect(files[name]).toMatch(/^#!\/bin\/sh\n(#.*\n)*set -eu$/m);
  });

  test("are all used by a component", () => {
    const used = new Set(
      [...allComponents, ...withCells(allComponents, { ...spec, cells: [{ name: "cell2" }] })].flatMap(
        ({ programs = [], exporter, settles = [] }) => [
          ...programs,
          ...(exporter?.programs ?? []),
          ...[settles].flat(),
        ],
      ),
    );
    const onRequest = [...backupJobs(allComponents), ...canaryComponents, ...bgp, providerNetworks];
    for (const { programs = [] } of onRequest) programs.forEach((name) => used.add(name));
    const others = [
      "drain.sh",
      "front.py",
      "database_watch.py",
      "ovn-sb-sync.sh",
      "ovn-sync.py",
      "lines.py",
      "wait-for.sh",
      "restore.py",
      "prober.py",
      "probe.py",
      "upgrade-check.sh",
      "online-migrations.sh",
      "glance-contract.sh",
    ];
    expect(Object.keys(files).filter((name) => !used.has(name) && !others.includes(name))).toEqual([]);
  });
});
