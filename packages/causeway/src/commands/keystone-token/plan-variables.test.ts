import { describe, expect, test } from "vitest";
import { withEnvironment, withFlags, type Variables } from "./plan-variables.ts";

const password = {
  OS_AUTH_URL: "https://a/v3",
  OS_USERNAME: "u",
  OS_PASSWORD: "p",
  OS_PROJECT_NAME: "pr",
  OS_USER_DOMAIN_NAME: "D",
};
const credential = {
  OS_AUTH_URL: "https://b/v3",
  OS_AUTH_TYPE: "v3applicationcredential",
  OS_APPLICATION_CREDENTIAL_ID: "i",
  OS_APPLICATION_CREDENTIAL_SECRET: "s",
};

describe("a flag of keystone-token wins", () => {
  test.each<[string, Variables, Variables, Variables]>([
    [
      "over the same variable",
      password,
      { OS_PASSWORD: "q" },
      { ...password, OS_PASSWORD: "q", OS_AUTH_TYPE: "v3password" },
    ],
    ["never when it is empty", password, { OS_PASSWORD: "" }, password],
    [
      "as a project's name over its id",
      { OS_PROJECT_ID: "1", OS_TENANT_NAME: "old" },
      { OS_PROJECT_NAME: "shop" },
      { OS_PROJECT_NAME: "shop" },
    ],
    ["as a user's name over its id", { OS_USER_ID: "1" }, { OS_USERNAME: "me" }, { OS_USERNAME: "me" }],
    [
      "as a domain over those of user and project",
      { OS_USER_DOMAIN_ID: "1", OS_PROJECT_DOMAIN_NAME: "two", OS_DEFAULT_DOMAIN: "default" },
      { OS_DOMAIN_NAME: "three" },
      { OS_DOMAIN_NAME: "three" },
    ],
    [
      "as an application credential over a password and its project",
      password,
      { OS_APPLICATION_CREDENTIAL_ID: "i", OS_APPLICATION_CREDENTIAL_SECRET: "s" },
      {
        OS_AUTH_URL: "https://a/v3",
        OS_USERNAME: "u",
        OS_USER_DOMAIN_NAME: "D",
        OS_AUTH_TYPE: "v3applicationcredential",
        OS_APPLICATION_CREDENTIAL_ID: "i",
        OS_APPLICATION_CREDENTIAL_SECRET: "s",
      },
    ],
    [
      "as a password over an application credential",
      credential,
      { OS_USERNAME: "u", OS_PASSWORD: "p" },
      { OS_AUTH_URL: "https://b/v3", OS_AUTH_TYPE: "v3password", OS_USERNAME: "u", OS_PASSWORD: "p" },
    ],
    [
      "as a credential's name over its id",
      credential,
      { OS_APPLICATION_CREDENTIAL_NAME: "n", OS_USERNAME: "u" },
      {
        OS_AUTH_URL: "https://b/v3",
        OS_AUTH_TYPE: "v3applicationcredential",
        OS_APPLICATION_CREDENTIAL_NAME: "n",
        OS_APPLICATION_CREDENTIAL_SECRET: "s",
        OS_USERNAME: "u",
      },
    ],
  ])("%s", (_, below, flags, expected) => {
    expect(withFlags(below, flags)).toEqual(expected);
  });
});

describe("a flag of keystone-token replaces", () => {
  const domains = ["OS_DOMAIN_ID", "OS_DEFAULT_DOMAIN", "OS_DEFAULT_DOMAIN_NAME", "OS_DEFAULT_DOMAIN_ID"];
  const ofOthers = ["OS_USER_DOMAIN_NAME", "OS_USER_DOMAIN_ID", "OS_PROJECT_DOMAIN_NAME", "OS_PROJECT_DOMAIN_ID"];
  const tokens = ["OS_TOKEN", "OS_ACCESS_TOKEN", "OS_PASSCODE"];
  const credentials = ["OS_APPLICATION_CREDENTIAL_ID", "OS_APPLICATION_CREDENTIAL_NAME"];
  const secret = "OS_APPLICATION_CREDENTIAL_SECRET";
  const projects = ["OS_PROJECT_NAME", "OS_PROJECT_ID", "OS_TENANT_NAME", "OS_TENANT_ID"];
  test.each<[string, string, readonly string[]]>([
    ["a project", "OS_PROJECT_NAME", projects],
    ["a user", "OS_USERNAME", ["OS_USERNAME", "OS_USER_ID", "OS_USER_NAME"]],
    ["domains", "OS_DOMAIN_NAME", [...domains, ...ofOthers]],
    ["other proofs than a password", "OS_PASSWORD", [...tokens, ...credentials, secret]],
    ["what no application credential has", secret, [...projects, ...tokens, "OS_PASSWORD", "OS_TRUST_ID"]],
  ])("%s, whatever variable has it", (_, flag, replaced) => {
    for (const name of replaced) {
      const { OS_AUTH_TYPE: _type, ...result } = withFlags({ [name]: "old", OS_CACERT: "ca" }, { [flag]: "new" });
      expect(result).toEqual({ [flag]: "new", OS_CACERT: "ca" });
    }
  });
});

describe("an entry of clouds.yaml", () => {
  test.each(["OS_DOMAIN_NAME", "OS_DOMAIN_ID", "OS_DEFAULT_DOMAIN"])(
    "gets no domains from the environment where it has %s, and else those of user and project",
    (name) => {
      const env = { OS_USER_DOMAIN_ID: "1", OS_PROJECT_DOMAIN_ID: "2", OS_DEFAULT_DOMAIN: "3", OS_TRUST_ID: "4" };
      expect(withEnvironment({ [name]: "own" }, env)).toStrictEqual({ [name]: "own" });
      const { OS_TRUST_ID: _none, ...domains } = env;
      expect(withEnvironment({ OS_USERNAME: "u" }, env)).toStrictEqual({ OS_USERNAME: "u", ...domains });
    },
  );

  test("gets the URL that it lacks, and no application credential where it has a user", () => {
    const env = { OS_AUTH_URL: "https://a", OS_APPLICATION_CREDENTIAL_ID: "i", OS_APPLICATION_CREDENTIAL_SECRET: "s" };
    expect(withEnvironment({ OS_USERNAME: "u" }, env)).toStrictEqual({ OS_USERNAME: "u", OS_AUTH_URL: "https://a" });
  });

  test.each<[string, Variables, Variables, Variables]>([
    [
      "wins over the variables of another cloud",
      password,
      { OS_AUTH_URL: "https://other", OS_USERNAME: "x", OS_PASSWORD: "y", OS_PROJECT_ID: "z", OS_USER_DOMAIN_ID: "1" },
      password,
    ],
    [
      "gets the password and project that it lacks",
      { OS_AUTH_URL: "https://a/v3", OS_USERNAME: "u", OS_USER_DOMAIN_NAME: "D" },
      { OS_PASSWORD: "p", OS_PROJECT_NAME: "pr", OS_PROJECT_DOMAIN_NAME: "E", OS_USERNAME: "x" },
      {
        OS_AUTH_URL: "https://a/v3",
        OS_USERNAME: "u",
        OS_USER_DOMAIN_NAME: "D",
        OS_PASSWORD: "p",
        OS_PROJECT_NAME: "pr",
        OS_PROJECT_DOMAIN_NAME: "E",
      },
    ],
    ["with a credential gets no user, password and project", credential, password, credential],
    [
      "with a credential gets the secret that it lacks",
      { ...credential, OS_APPLICATION_CREDENTIAL_SECRET: "" },
      { OS_APPLICATION_CREDENTIAL_SECRET: "t", OS_APPLICATION_CREDENTIAL_ID: "x" },
      { ...credential, OS_APPLICATION_CREDENTIAL_SECRET: "t" },
    ],
    [
      "with a token gets no password",
      { OS_AUTH_URL: "a", OS_TOKEN: "t" },
      password,
      { OS_AUTH_URL: "a", OS_TOKEN: "t" },
    ],
    [
      "with a domain of its own gets no other",
      { OS_AUTH_URL: "a", OS_USERNAME: "u", OS_PASSWORD: "p", OS_PROJECT_NAME: "pr", OS_DOMAIN_NAME: "D" },
      { OS_USER_DOMAIN_ID: "x", OS_PROJECT_DOMAIN_ID: "y" },
      { OS_AUTH_URL: "a", OS_USERNAME: "u", OS_PASSWORD: "p", OS_PROJECT_NAME: "pr", OS_DOMAIN_NAME: "D" },
    ],
    [
      "gets the authority and client certificate that it lacks",
      credential,
      { OS_CACERT: "ca", OS_CERT: "c", OS_KEY: "k" },
      { ...credential, OS_CACERT: "ca", OS_CERT: "c", OS_KEY: "k" },
    ],
    [
      "keeps its own certificate without another's key",
      { ...credential, OS_CERT: "c" },
      { OS_KEY: "k" },
      { ...credential, OS_CERT: "c" },
    ],
  ])("%s", (_, entry, env, expected) => {
    expect(withEnvironment(entry, env)).toEqual(expected);
  });
});
