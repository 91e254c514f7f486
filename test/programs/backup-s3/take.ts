/** Takes one backup after the other into a bucket, until it is killed: all data, and changes twice. */
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
const store = createS3Store({ endpoint, region: "us-east-1", bucket: "backups", credentials, clock: systemClock });
const backups = createBackups({ store, key: Buffer.from(given.key, "base64"), clock: systemClock });
process.stdout.write("ready\n");
for (;;) {
  const from = { folder, keyspace, secrets: { "ca.crt": "C" } };
  let parent = await backups.take(from, signal);
  for (let i = 0; i < 2; i++) parent = await backups.take({ ...from, parent }, signal);
}
