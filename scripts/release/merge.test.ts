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
