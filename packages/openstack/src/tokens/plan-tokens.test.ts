import { describe, expect, it } from "vitest";
import { duringOutage, freshness, type KnownToken } from "./plan-cache.ts";
import { isLikelyToken, notKeystoneToken } from "./plan-form.ts";

describe("the cache has, and uses or checks again,", () => {
  const user = { name: "anna" };
  const rules = { recheck: 60, outage: 600, refusal: 10 };
  const valid: KnownToken<typeof user> = { user, expires: 1_000, checked: 100 };
  const refused: KnownToken<typeof user> = { refused: "no", checked: 100 };
  it.each<[string, KnownToken<typeof user> | undefined, number, string, boolean]>([
    ["nothing", undefined, 100, "ask", false],
    ["a valid token just checked", valid, 100, "use", true],
    ["a valid token before its next check", valid, 159, "use", true],
    ["a valid token at its next check", valid, 160, "ask", true],
    ["a valid token at the end of an outage", valid, 700, "ask", false],
    ["an expired token", { ...valid, checked: 990 }, 1_000, "ask", false],
    ["a refused token just checked", refused, 109, "use", false],
    ["a refused token later", refused, 110, "ask", false],
  ])("%s", (_what, known, now, expected, survives) => {
    expect(freshness(known, now, rules)).toBe(expected);
    expect(duringOutage(known, now, rules) !== undefined).toBe(survives);
  });
});

describe("the cache that checks a token soon", () => {
  const rules = { recheck: 60, outage: 600, refusal: 10, soon: 5 };
  const valid: KnownToken<string> = { user: "anna", expires: 1_000, checked: 100 };
  it.each<[string, KnownToken<string>, number, string]>([
    ["uses a token before that", valid, 104, "use"],
    ["checks a token from then on", valid, 105, "check"],
    ["uses a token whose early check was begun", { ...valid, tried: 105 }, 109, "use"],
    ["checks again after an early check whose result was lost", { ...valid, tried: 105 }, 110, "check"],
    ["has to check when the time is over, whatever was tried", { ...valid, tried: 159 }, 160, "ask"],
  ])("%s", (_what, known, now, expected) => expect(freshness(known, now, rules)).toBe(expected));
});

describe("a text that is sent to Keystone", () => {
  const jwt = (claims: object) => `aGVhZGVy.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2lnbmF0dXJl`;
  it("is refused with the reason", () => {
    expect(notKeystoneToken("abc")).toBe("it is not a token of Keystone");
    expect(notKeystoneToken("aaaaaaaa.bbbbbbbb.cccccccc")).toBe("it is a token of another issuer");
  });
  it.each<[string, string, boolean]>([
    ["a Fernet token", `gAAAAAB${"x".repeat(180)}==`, true],
    ["a UUID token", "0123456789abcdef0123456789abcdef", true],
    ["a JWS token of Keystone", jwt({ sub: "u", openstack_methods: ["password"] }), true],
    [
      "a service account's token",
      jwt({ iss: "https://kubernetes.default.svc", sub: "system:serviceaccount:a:b" }),
      false,
    ],
    ["a token of three parts that are no JSON", "aaaaaaaa.bbbbbbbb.cccccccc", false],
    ["a short text", "abc", false],
    ["a text of 15 characters", "x".repeat(15), false],
    ["a text of 16 characters", "x".repeat(16), true],
    ["a text of 8,192 characters", "x".repeat(8_192), true],
    ["a text of 8,193 characters", "x".repeat(8_193), false],
    ["a text of 9,000 characters", "x".repeat(9_000), false],
    ["a text with a line break", "gAAAAAB0123456789\r\nX-Evil: 1", false],
    ["a text with spaces", "not a token at all, sorry", false],
  ])("%s: %s", (_what, token, sent) => {
    expect(notKeystoneToken(token) === undefined).toBe(sent);
  });
});

describe("a token that goes before others", () => {
  const now = Date.UTC(2026, 0, 1);
  const minute = 60_000;
  const day = 86_400_000;
  const fernet = (issued: number, version = 0x80) => {
    const head = Buffer.alloc(73, version);
    head.writeBigUInt64BE(BigInt(Math.max(0, issued) / 1000), 1);
    return head.toString("base64url");
  };
  it.each<[string, string, boolean]>([
    ["a Fernet token of now", fernet(now), true],
    ["a Fernet token of a clock that is four minutes ahead", fernet(now + 4 * minute), true],
    ["a Fernet token of a clock that is five minutes ahead", fernet(now + 5 * minute), true],
    ["a Fernet token of the future", fernet(now + 6 * minute), false],
    ["a Fernet token of last year", fernet(now - 365 * day), true],
    ["a Fernet token of a leap year ago", fernet(now - 366 * day), true],
    ["a Fernet token that is older than a year", fernet(now - 367 * day), false],
    ["a Fernet token of another version", fernet(now, 0x81), false],
    ["a UUID token", "0123456789abcdef0123456789abcdef", true],
    ["a JWS token", "aaaaaaaa.bbbbbbbb.cccccccc", true],
    ["a word", "not-a-token-of-anybody", false],
    ["letters that begin as Fernet tokens do", `gAAAAAB${"x".repeat(180)}`, false],
    ["a long text without meaning", "~".repeat(200), false],
  ])("%s: %s", (_what, token, likely) => {
    expect(isLikelyToken(token, now)).toBe(likely);
  });
});
