import { describe, expect, test } from "vitest";
import { InputError } from "@causeway/foundation";
import { renderCredential, requestedVersion, usableCredential } from "./plan-credential.ts";

const GROUP = "client.authentication.k8s.io";

describe("the version of ExecCredential", () => {
  test.each<[string | undefined, string]>([
    [undefined, "v1"],
    ["", "v1"],
    [JSON.stringify({ apiVersion: `${GROUP}/v1` }), "v1"],
    [JSON.stringify({ apiVersion: `${GROUP}/v1beta1`, spec: {} }), "v1beta1"],
  ])("that %s requests is %s", (info, version) => {
    expect(requestedVersion(info)).toBe(`${GROUP}/${version}`);
  });

  test.each<[string, string]>([
    [JSON.stringify({ apiVersion: `${GROUP}/v1alpha1` }), `${GROUP}/v1alpha1`],
    [JSON.stringify({ apiVersion: 1 }), ""],
    ["[]", ""],
    ["{", ""],
  ])("that %s requests is refused", (info, shown) => {
    const error = new InputError(
      "EXEC_INFO_INVALID",
      `KUBERNETES_EXEC_INFO asks for "${shown}", not ${GROUP}/v1 or v1beta1.`,
      { hint: "Write one of them as apiVersion of the exec entry in the kubeconfig." },
    );
    expect(() => requestedVersion(info)).toThrow(error);
    try {
      requestedVersion(info);
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: "EXEC_INFO_INVALID", hint: error.hint });
    }
  });
});

test("the credential is one line of JSON with its end in whole seconds", () => {
  const expires = Date.UTC(2026, 0, 1) + 999;
  expect(renderCredential(`${GROUP}/v1`, { token: "t", expires })).toBe(
    `{"apiVersion":"${GROUP}/v1","kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"}}\n`,
  );
});

describe("a credential in a cache file", () => {
  const now = Date.UTC(2026, 0, 1);
  const latest = Date.UTC(9999, 11, 31);
  const margin = 120_000;
  test.each<[string, unknown, boolean]>([
    ["that ends later is used", { token: "t", expires: now + margin + 1 }, true],
    ["that ends too soon is not", { token: "t", expires: now + margin }, false],
    ["that ended is not", { token: "t", expires: now - 1 }, false],
    ["that ends with the year 9999 is used", { token: "t", expires: latest }, true],
    ["that ends later than kubectl can read is not", { token: "t", expires: latest + 1 }, false],
    ["without a token is not", { expires: now + 2 * margin }, false],
    ["with a token of no characters is not", { token: "", expires: now + 2 * margin }, false],
    ["with a token of two lines is not", { token: "t\r\nX-Evil: 1", expires: now + 2 * margin }, false],
    ["with a token that is a number is not", { token: 12, expires: now + 2 * margin }, false],
    ["with a token that has spaces is not", { token: "a b", expires: now + 2 * margin }, false],
    ["with an end that is a text is not", { token: "t", expires: String(now + 2 * margin) }, false],
    ["without an end is not", { token: "t" }, false],
    ["that is a list is not", [], false],
  ])("%s", (_title, content, used) => {
    const found = usableCredential(JSON.stringify(content), now);
    expect(found).toEqual(used ? content : undefined);
  });

  test("that is no JSON is not used", () => expect(usableCredential("{", now)).toBeUndefined());
});
