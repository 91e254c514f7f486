import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { sectionOf, withSection } from "./merge.ts";

const openstack = {
  name: "openstack",
  text: "# @causeway/openstack\n\n## 0.2.0\n\n### Minor Changes\n\n- Octavia: flavors.\n  With zones.\n- Both.\n\n## 0.1.0\n\n### Patch Changes\n\n- Old.\n",
};
const simulator = {
  name: "simulator",
  text: "# @causeway/simulator\n\n## 0.2.0\n\n### Minor Changes\n\n- Both.\n\n### Patch Changes\n\n- Fixed.\n",
};

test("one section has each entry once, with the packages that it concerns", () => {
  expect(sectionOf("0.2.0", [openstack, simulator])).toBe(
    [
      "## 0.2.0",
      "### Minor Changes",
      "- Octavia: flavors. (openstack)\n  With zones.\n- Both. (openstack, simulator)",
      "### Patch Changes",
      "- Fixed. (simulator)",
    ].join("\n\n"),
  );
});

test("a version without entries has no section", () => {
  expect(
    sectionOf("0.3.0", [openstack, { name: "kms", text: "# k\n\n## 0.3.0\n\nNo changes in this release.\n" }]),
  ).toBe("");
});

test("the newest section comes first, and is written once", () => {
  const once = withSection("# Changelog\n\n## 0.1.0\n\n- a\n", "## 0.2.0\n\n- b");
  expect(once).toBe("# Changelog\n\n## 0.2.0\n\n- b\n\n## 0.1.0\n\n- a\n");
  expect(withSection(once, "## 0.2.0\n\n- b")).toBe(once);
  expect(withSection("# Changelog\n", "## 0.1.0\n\n- a")).toBe("# Changelog\n\n## 0.1.0\n\n- a\n");
});

test("changesets name packages of the workspace: with another name no version can be made", () => {
  const root = resolve(import.meta.dirname, "../..");
  const packages = readdirSync(join(root, "packages")).map((name) => `@causeway/${name}`);
  const unknown = readdirSync(join(root, ".changeset"))
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .flatMap((file) => {
      const [, head = ""] = readFileSync(join(root, ".changeset", file), "utf8").split("---\n");
      const names = [...head.matchAll(/^['"]?([^'":\n]+)['"]?: (?:patch|minor|major)$/gm)].map(([, name = ""]) => name);
      const wrong = names.filter((name) => !packages.includes(name)).map((name) => `${file}: ${name}`);
      return names.length === 0 ? [`${file}: no package`] : wrong;
    });
  expect(unknown).toEqual([]);
});
