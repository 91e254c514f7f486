/**
 * Takes one backup after the other into a bucket, all data and changes twice, and kills itself at the write whose
 * number is KILL_AT: when it was begun, or some time later.
 */
import { systemClock } from "@causeway/foundation";
import { createBackups, createS3Store } from "@causeway/hosted-control-plane";

const given = JSON.parse(process.env["TAKE"] ?? "{}") as {
  endpoint: string;
  accessKey: string;
  secretKey: string;
  key: string;
  folder: string;
  keyspace: Parameters<ReturnType<typeof createBackups>["take"]>[0]["keyspace"];
};
const { endpoint, accessKey, secretKey, folder, keyspace } = given;
const signal = new AbortController().signal;
const credentials = async () => ({ accessKey, secretKey });
const bucket = createS3Store({ endpoint, region: "us-east-1", bucket: "backups", credentials, clock: systemClock });
const killAt = Number(process.env["KILL_AT"]);
let writes = 0;
const store = {
  ...bucket,
  async put(name: string, data: Uint8Array): Promise<void> {
    writes++;
    const written = bucket.put(name, data, signal);
    if (writes === killAt) {
      await systemClock.sleep((killAt % 4) * 2);
      process.kill(process.pid, "SIGKILL");
    }
    await written;
  },
};
const backups = createBackups({ store, key: Buffer.from(given.key, "base64"), clock: systemClock });
for (;;) {
  const from = { folder, keyspace, secrets: { "ca.crt": "C" } };
  let parent = await backups.take(from, signal);
  for (let i = 0; i < 2; i++) parent = await backups.take({ ...from, parent }, signal);
}
