import { describe, expect, test } from "vitest";
import type { Json } from "../values.ts";
import { accessReviewOf, readAccessReview } from "./plan-access-review.ts";
import { readTokenReview, tokenReviewOf } from "./plan-token-review.ts";

describe("a SubjectAccessReview", () => {
  const who = { user: "anna", uid: "u1", extra: { roles: ["member", "reader"], projects: ["p"] } };
  const asked = { user: "anna", uid: "u1", groups: ["ops"], extra: { roles: ["member", "reader"], projects: ["p"] } };
  const resource = { verb: "get", namespace: "n", group: "apps", resource: "deployments", subresource: "scale" };
  const read = {
    verb: "get",
    resource: { namespace: "n", apiGroup: "apps", resource: "deployments", subresource: "scale" },
  };
  const empty = { user: "", uid: "", groups: [], extra: undefined };
  test.each<[string, Json, "v1" | "v1beta1", object | undefined]>([
    ["of a resource", { ...who, groups: ["ops"], resourceAttributes: resource }, "v1", { ...asked, ...read }],
    [
      "of v1beta1 has its groups elsewhere",
      { ...who, group: ["ops"], resourceAttributes: resource },
      "v1beta1",
      { ...asked, ...read },
    ],
    [
      "of v1 has none there",
      { ...who, group: ["ops"], resourceAttributes: resource },
      "v1",
      { ...asked, ...read, groups: [] },
    ],
    [
      "of a path",
      { ...who, groups: ["ops"], nonResourceAttributes: { verb: "get", path: "/healthz" } },
      "v1",
      { ...asked, verb: "get", path: "/healthz" },
    ],
    [
      "of both is of the resource",
      { resourceAttributes: {}, nonResourceAttributes: { verb: "get", path: "/" } },
      "v1",
      { ...empty, verb: "", resource: { namespace: "", apiGroup: "", resource: "", subresource: "" } },
    ],
    [
      "without extra is of a user whom Keystone did not authenticate",
      { extra: [], nonResourceAttributes: {} },
      "v1",
      { ...empty, verb: "", path: "" },
    ],
    ["of nothing is none", { ...who }, "v1", undefined],
    ["of a text is none", { nonResourceAttributes: "/" }, "v1", undefined],
  ])("%s", (_title, spec, version, expected) => {
    expect(readAccessReview({ spec }, version)).toEqual(expected);
  });

  test("without a spec is none", () => expect(readAccessReview({}, "v1")).toBeUndefined());

  test.each(["v1", "v1beta1"] as const)("of %s gets a response of that version, which denies nothing", (version) => {
    expect(accessReviewOf(version, { allowed: false, reason: "no rule" })).toEqual({
      apiVersion: `authorization.k8s.io/${version}`,
      kind: "SubjectAccessReview",
      metadata: {},
      status: { allowed: false, reason: "no rule" },
    });
  });
});

describe("a TokenReview", () => {
  test.each<[Json, string | undefined]>([
    [{ spec: { token: "t" } }, "t"],
    [{ spec: { token: "" } }, undefined],
    [{ spec: { token: 1 } }, undefined],
    [{ spec: "t" }, undefined],
    [{}, undefined],
  ])("of %j has the token %s", (review, token) => expect(readTokenReview(review)).toBe(token));

  const head = { apiVersion: "authentication.k8s.io/v1beta1", kind: "TokenReview", metadata: {} };
  test("gets the user in its response, and not the token", () => {
    const user = { username: "anna", uid: "u1", groups: [], extra: {} };
    const status = { authenticated: true, user };
    expect(tokenReviewOf("v1beta1", { user })).toEqual({ ...head, status });
  });

  test("gets the reason where it is refused", () => {
    const status = { authenticated: false, error: "it ended" };
    expect(tokenReviewOf("v1beta1", { refused: "it ended" })).toEqual({ ...head, status });
  });
});
