import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { readCloudConfig } from "./cloud-init.ts";

const instance = { hostname: "worker-1", instanceId: "3f2a7c1e" };
const read = (text: string) => readCloudConfig(text, instance);
const base64 = (data: string | Buffer) => Buffer.from(data).toString("base64");
const write = (entry: unknown) =>
  read(`#cloud-config\n${stringify({ write_files: [entry] }, { version: "1.1" })}`).files.get("/f");

describe("cloud-config user data", () => {
  const zipped = gzipSync("hello\n");
  test.each([
    ["no encoding is text", {}, "hello\n"],
    ["text/plain is text", { encoding: "text/plain" }, "hello\n"],
    ["b64", { encoding: "b64", content: base64("hello\n") }, "hello\n"],
    ["base64, wrapped as people paste it", { encoding: "base64", content: "aGVs\nbG8K\n" }, "hello\n"],
    ["gz+b64", { encoding: "gz+b64", content: base64(zipped) }, "hello\n"],
    ["gzip+base64", { encoding: "gzip+base64", content: base64(zipped) }, "hello\n"],
    ["gz+base64", { encoding: "gz+base64", content: base64(zipped) }, "hello\n"],
    ["gz as YAML's binary", { encoding: "gz", content: zipped }, "hello\n"],
    ["a file without content is empty", { content: undefined }, ""],
  ])("write_files: %s", (_, entry, expected) => {
    expect(write({ path: "/f", content: "hello\n", ...entry })).toBe(expected);
  });

  test("append adds to what an earlier entry wrote", () => {
    const text = "#cloud-config\nwrite_files:\n- {path: /f, content: a}\n- {path: /f, content: b, append: true}\n";
    expect(read(text).files.get("/f")).toBe("ab");
  });

  test("commands are strings or lists of words", () => {
    expect(read("#cloud-config\nruncmd:\n- echo one\n- [echo, two, 3]\n").commands).toEqual(["echo one", "echo two 3"]);
  });

  test.each([
    ["{{ ds.meta_data.local_hostname }}", "worker-1"],
    ["{{ds.meta_data.hostname}}", "worker-1"],
    ["{{ local_hostname }}", "worker-1"],
    ["{{ ds.meta_data.instance_id }}", "3f2a7c1e"],
    ["{{ something.else }}", "{{ something.else }}"],
  ])("a jinja template's %s becomes %s", (variable, expected) => {
    const body = `#cloud-config\nruncmd:\n- "echo ${variable}"\n`;
    expect(read(`## template: jinja\n${body}`).commands).toEqual([`echo ${expected}`]);
    expect(read(body).commands).toEqual([`echo ${variable}`]);
  });

  test.each([
    ["a script", "#!/bin/sh\ntrue\n"],
    ["nothing", ""],
    ["YAML that is none", "#cloud-config\nfoo: [\n"],
    ["a file that is not gzip", "#cloud-config\nwrite_files: [{path: /f, encoding: gz+b64, content: aGVsbG8=}]\n"],
  ])("%s is refused", (_, text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: "MACHINE_USER_DATA_INVALID" }));
  });

  test("an error does not quote the user data, which holds secrets", () => {
    const error = (() => {
      try {
        read('#cloud-config\nx: "s3cret\n');
      } catch (caught) {
        return caught as Error;
      }
      return new Error("nothing was thrown");
    })();
    expect(`${error.message} ${String(error.cause)}`).not.toContain("s3cret");
  });

  test("whatever is written in YAML 1.1 is read back", () => {
    const file = fc.record({ path: fc.string({ minLength: 1 }).map((p) => `/${p}`), content: fc.string() });
    fc.assert(
      fc.property(fc.uniqueArray(file, { selector: (f) => f.path }), fc.array(fc.string()), (files, commands) => {
        const document = { write_files: files, runcmd: commands };
        const boot = read(`#cloud-config\n${stringify(document, { version: "1.1", lineWidth: 0 })}`);
        expect([...boot.files]).toEqual(files.map((f) => [f.path, f.content]));
        expect(boot.commands).toEqual(commands);
      }),
    );
  });
});
