import { expect, test } from "vitest";
import { hasCode } from "./errors.ts";
import { createRequest, requestsAuthority } from "./pki.ts";

// Made by "openssl req -new -newkey ec -subj /O=system:masters/CN=admin -addext …".
const requests = {
  "basicConstraints=critical,CA:TRUE": `-----BEGIN CERTIFICATE REQUEST-----
MIIBBjCBrQIBADApMRcwFQYDVQQKDA5zeXN0ZW06bWFzdGVyczEOMAwGA1UEAwwF
YWRtaW4wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQP2fLoOnUXjZ5nz1/fB5gf
/QLeoy7RIZRoskqOkFPWk7Y+sNO8vLC4fTojTfIErk8vZFn37tZWmKbokMuRiSKq
oCIwIAYJKoZIhvcNAQkOMRMwETAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMC
A0gAMEUCIG9Fm8QGDs2E7rtroYee/x6lUSEFg8Sg1XqcclhplXrTAiEAxMC3uS8s
GEnzOCySoCwIacI1kSJEDK7xa3Y2fLHnlIc=
-----END CERTIFICATE REQUEST-----`,
  "keyUsage=keyCertSign": `-----BEGIN CERTIFICATE REQUEST-----
MIIBATCBqQIBADApMRcwFQYDVQQKDA5zeXN0ZW06bWFzdGVyczEOMAwGA1UEAwwF
YWRtaW4wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQDr6eGBM7UWUOBB25hwrRI
W2KWH8r3VGq8S3n5A83PQwrHbugX1qr/9rA5bLseoSw1qBIBvOdOg0UP+D95vd24
oB4wHAYJKoZIhvcNAQkOMQ8wDTALBgNVHQ8EBAMCAgQwCgYIKoZIzj0EAwIDRwAw
RAIgQjwXENPcAF9ayGl41U7y+9Vc8R0C1QhGo4oX3jTZQy8CIEKAmJHNr1XXSEzw
75pJdorjxgsxmc7Z6AmES5gcwoMm
-----END CERTIFICATE REQUEST-----`,
  "basicConstraints=CA:FALSE": `-----BEGIN CERTIFICATE REQUEST-----
MIH/MIGnAgEAMCkxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQ4wDAYDVQQDDAVh
ZG1pbjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFIvthHByULVRQua+bTbVdMY
NcLMoAxIG6Wl9S0OWZU6IkvY9Qvd/a+Rj8mta1UxcVXFRa5lyCPO+kUEmvn9IiWg
HDAaBgkqhkiG9w0BCQ4xDTALMAkGA1UdEwQCMAAwCgYIKoZIzj0EAwIDRwAwRAIg
bLaRGTIgqoDYOQJr/EmQY8l2bBGfZp6Bbi+mTQc1CtACIFVzrMS+B7VOp69SuqjJ
0mRgpbWbSVZLYEC711ad732w
-----END CERTIFICATE REQUEST-----`,
};

test.each([
  ["basicConstraints=critical,CA:TRUE", true],
  ["keyUsage=keyCertSign", true],
  ["basicConstraints=CA:FALSE", false],
] as const)("a request with %s asks for an authority: %s", async (extension, expected) => {
  expect(await requestsAuthority(requests[extension])).toBe(expected);
});

test("a request without either extension asks for a leaf; one that cannot be read is refused", async () => {
  const { request } = await createRequest({ commonName: "admin" });
  expect(await requestsAuthority(request)).toBe(false);
  await expect(requestsAuthority("nonsense")).rejects.toSatisfy((e) => hasCode(e, "PKI_REQUEST_INVALID"));
});
