import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLog } from "@causeway/foundation";
import { serveKms, type KmsServer } from "./server.ts";

describe("the socket of a KMS server", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "kms-"));
  });
  afterEach(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const unused = (): never => {
    throw new Error("no call is sent");
  };
  const serve = (endpoint: string): Promise<KmsServer> =>
    serveKms({
      endpoint,
      service: { status: unused, encrypt: unused, decrypt: unused },
      log: createLog({ level: "error", destination: { write: () => {} } }),
    });

  it("in a folder that does not exist is refused with the folder's name", async () => {
    await expect(serve(join(dir, "none", "k.sock"))).rejects.toMatchObject({
      code: "KMS_ENDPOINT_UNUSABLE",
      message: expect.stringContaining(`the folder ${join(dir, "none")} does not exist`) as string,
      hint: expect.stringContaining("Create the folder") as string,
    });
  });

  it("below a file is refused as not in a folder", async () => {
    writeFileSync(join(dir, "file"), "");
    await expect(serve(join(dir, "file", "k.sock"))).rejects.toMatchObject({
      code: "KMS_ENDPOINT_UNUSABLE",
      message: expect.stringContaining(`the folder ${join(dir, "file")} is not a folder`) as string,
    });
  });

  // The superuser writes everywhere but there.
  it.skipIf(process.platform !== "linux")("in a folder that is not writable is refused as that", async () => {
    await expect(serve("/proc/k.sock")).rejects.toMatchObject({
      code: "KMS_ENDPOINT_UNUSABLE",
      message: expect.stringContaining("the folder /proc is not writable for this user") as string,
    });
  });

  it("that another process serves, or that is a file, is in use", async () => {
    const path = join(dir, "k.sock");
    const server = await serve(path);
    await expect(serve(path)).rejects.toMatchObject({ code: "KMS_ENDPOINT_IN_USE" });
    await server.close();
    writeFileSync(path, "");
    await expect(serve(path)).rejects.toMatchObject({ code: "KMS_ENDPOINT_IN_USE" });
  });
});
