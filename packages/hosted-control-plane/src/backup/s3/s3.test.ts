import { describe, expect, test } from "vitest";
import { keysOf } from "./list-answer.ts";
import { signS3, type S3Request } from "./sign.ts";

const using = {
  credentials: { accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
  region: "us-east-1",
  now: Date.UTC(2013, 4, 24),
};
const get: S3Request = {
  method: "GET",
  host: "examplebucket.s3.amazonaws.com",
  path: "/",
  query: {},
  headers: {},
  body: new Uint8Array(),
};

/** The examples of the signature's documentation. */
const examples: [string, Partial<S3Request>, string][] = [
  [
    "an object, in part",
    { path: "/test.txt", headers: { range: "bytes=0-9" } },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "an object that is written",
    {
      method: "PUT",
      path: "/test$file.text",
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      body: Buffer.from("Welcome to Amazon S3."),
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "a query without a value",
    { query: { lifecycle: "" } },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "a list",
    { query: { "max-keys": "2", prefix: "J" } },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
];

test.each(examples)("the S3 client signs a request for %s as its documentation does", (_, changes, signature) => {
  const { headers } = signS3({ ...get, ...changes }, using);
  expect(headers["authorization"]).toMatch(new RegExp(`,Signature=${signature}$`));
});

test("the S3 client encodes names, and signs a session's token", () => {
  const credentials = { ...using.credentials, sessionToken: "lent" };
  const { target, headers } = signS3(
    { ...get, path: "/b/a b/ü*(1)", query: { prefix: "a/b:c" } },
    { ...using, credentials },
  );
  expect(target).toBe("/b/a%20b/%C3%BC%2A%281%29?prefix=a%2Fb%3Ac");
  expect(headers["x-amz-security-token"]).toBe("lent");
  expect(headers["authorization"]).toContain("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token");
});

describe("a list of objects", () => {
  const answer = (keys: string[], more = "") =>
    `<?xml version="1.0"?><ListBucketResult><Name>b</Name>${more}${keys.map((key) => `<Contents><Size>1</Size><Key>${key}</Key></Contents>`).join("\n")}<CommonPrefixes><Key>no</Key></CommonPrefixes></ListBucketResult>`;

  test("is decoded when the server encoded it, and only then", () => {
    const url = "<EncodingType>url</EncodingType>";
    expect(keysOf(answer(["a/b%20c%2B", "a+b", "a%zz"], url))).toEqual(["a/b c+", "a b", "a%zz"]);
    expect(keysOf(answer(["a%20b+c", "&amp;&lt;&#8364;&#x20ac;&none;"]))).toEqual(["a%20b+c", "&<€€&none;"]);
  });

  test("of nothing, or cut off, has no objects", () => {
    expect(keysOf("")).toEqual([]);
    expect(keysOf("<ListBucketResult><Contents><Key>a</Key>")).toEqual([]);
  });
});
