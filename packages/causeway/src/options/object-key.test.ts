import { expect, test } from "vitest";
import { objectKeyOf } from "./object-key.ts";

test.each<[string, { namespace: string; name: string } | "refused"]>([
  ["web", { namespace: "default", name: "web" }],
  ["tenants/web", { namespace: "tenants", name: "web" }],
  ["tenants/web/uid", "refused"],
  ["../web", "refused"],
  ["", "refused"],
  ["tenants/", "refused"],
])("the text %j for a key in namespace default is %j", (given, expected) => {
  if (expected === "refused") expect(() => objectKeyOf(given, "default")).toThrow(/is not NAMESPACE\/NAME/);
  else expect(objectKeyOf(given, "default")).toEqual(expected);
});
