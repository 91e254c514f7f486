import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CausewayError } from "./errors.ts";
import { iniBoolean, iniSection, iniText, iniTexts, parseIni } from "./ini.ts";

const SAMPLE = `; the identity
[Global]
auth-url = https://keystone.example.org/v3 # public
Password = "a; b # c \\" \\\\"
tls-insecure
username=" spaced "
long = one \\
two

[LoadBalancer]
enabled = yes
[LoadBalancerClass "internal.A"]
network-id = n-1
[Networking]
public-network-name = one
public-network-name = two
[global]
region = R\\t1
`;

function failure(text: string): CausewayError {
  try {
    parseIni(text, "cloud.conf");
  } catch (error) {
    if (error instanceof CausewayError) return error;
  }
  throw new Error("nothing was thrown");
}

describe("parseIni, for a file of sections,", () => {
  const file = parseIni(SAMPLE);
  const global = iniSection(file, "Global");

  it.each([
    ["auth-url", "https://keystone.example.org/v3"],
    ["AUTH-URL", "https://keystone.example.org/v3"],
    ["password", 'a; b # c " \\'],
    ["username", " spaced "],
    ["long", "one two"],
    ["region", "R\t1"],
    ["absent", undefined],
  ])("reads %s", (key, value) => expect(iniText(global, key)).toBe(value));

  it("joins sections that come again, whatever their case", () => {
    expect(file.map((s) => s.name)).toEqual(["global", "loadbalancer", "loadbalancerclass", "networking"]);
  });
  it("keeps the case of subsections", () => {
    expect(iniText(iniSection(file, "LoadBalancerClass", "internal.A"), "network-id")).toBe("n-1");
    expect(iniSection(file, "LoadBalancerClass", "internal.a")).toBeUndefined();
  });
  it("keeps every value of a key that comes again", () => {
    const networking = iniSection(file, "networking");
    expect(iniTexts(networking, "public-network-name")).toEqual(["one", "two"]);
    expect(iniText(networking, "public-network-name")).toBe("two");
  });
  it("removes the values before a bare key", () => {
    const [section] = parseIni("[a]\nk = 1\nk\nk = 2");
    expect(iniTexts(section, "k")).toEqual(["2"]);
  });
  it("reads booleans, a bare key as true", () => {
    expect(iniBoolean(global, "tls-insecure")).toBe(true);
    expect(iniBoolean(iniSection(file, "loadbalancer"), "enabled")).toBe(true);
    expect(iniBoolean(iniSection(file, "loadbalancer"), "absent")).toBeUndefined();
    const [section] = parseIni("[a]\noff = off\nnone = maybe");
    expect(iniBoolean(section, "off")).toBe(false);
    expect(() => iniBoolean(section, "none")).toThrow("line 3");
  });
  it("accepts a byte order mark and Windows line ends", () => {
    expect(iniText(parseIni("\uFEFF[a]\r\nk = v\r\n")[0], "k")).toBe("v");
  });

  it.each([
    ["k = v", "line 1: a value precedes the first section"],
    ["[a]\n\nk: v", 'line 3: "=" is expected'],
    ["[a\nk = v", 'does not end with "]"'],
    ['[a]\nk = "v', "line 2: a quoted text has no closing quote"],
    ["[a]\nk = \\x", "line 2: the escape after a backslash is unknown"],
    ["[a]\n= v", "line 2: a key is expected"],
    ["[]", "a section's name is expected"],
  ])("says where %j is wrong", (text, message) => {
    const error = failure(text);
    expect(error.code).toBe("INI_INVALID");
    expect(error.message).toContain("cloud.conf");
    expect(error.message).toContain(message);
  });

  it("never repeats the content of a wrong line, which may be a secret", () => {
    expect(failure("[a]\npassword: hunter2").message).not.toContain("hunter2");
  });

  it("reads back any value that was quoted", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (value) => {
        const plain = value.replace(/[\r\n]/g, "");
        const quoted = plain.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
        expect(iniText(parseIni(`[a]\nk = "${quoted}" ; c`)[0], "k")).toBe(plain);
      }),
    );
  });

  it("returns sections or throws INI_INVALID for any text", () => {
    const texts = fc.array(fc.constantFrom("[", "]", '"', "=", "a", " ", "\n", "\\", ";", "#", "k = v\n", "[a]\n"));
    fc.assert(
      fc.property(texts, (parts) => {
        try {
          parseIni(parts.join(""));
        } catch (error) {
          expect(error).toMatchObject({ code: "INI_INVALID" });
        }
      }),
    );
  });
});
