import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import type { Keyspace } from "../datastore.ts";

interface Operation {
  readonly request_put?: { readonly key: string; readonly value: string };
  readonly request_delete_range?: { readonly key: string; readonly range_end?: string };
}

interface Compare {
  readonly target: "CREATE" | "VALUE";
  readonly key: string;
  readonly value?: string;
}

/** The part of etcd's JSON API that a restore calls, with a quota: deleted values take space until a compaction. */
export class LimitedEtcd {
  readonly values = new Map<string, string>();
  readonly calls: string[] = [];
  isAlarmed = false;
  /** Bytes of the file, and of those of them that have values of now or of before. */
  file = 0;
  #kept = 0;
  #revision = 1;
  readonly quota: number;

  constructor(quota: number) {
    this.quota = quota;
  }

  answer(path: string, body: Record<string, unknown>): object {
    this.calls.push(path);
    if (path === "kv/range") return { count: String(this.values.has(body["key"] as string) ? 1 : 0) };
    if (path === "kv/txn") return this.#transaction(body as never);
    if (path === "kv/compaction") this.#kept = this.#used();
    if (path === "maintenance/defragment") this.file = this.#kept;
    if (path === "maintenance/status") return { dbSize: String(this.file), dbSizeInUse: String(this.#kept) };
    if (path !== "maintenance/alarm") return {};
    if (body["action"] === "DEACTIVATE") this.isAlarmed = this.file >= this.quota;
    return { alarms: this.isAlarmed ? [{ memberID: "1", alarm: "NOSPACE" }] : [] };
  }

  #transaction({ compare, success }: { compare: readonly Compare[]; success: readonly Operation[] }): object {
    const size = success.reduce((sum, { request_put: put }) => sum + (put ? put.key.length + put.value.length : 0), 0);
    if (size > 0 && (this.isAlarmed || this.file + size > this.quota)) {
      this.isAlarmed = true;
      throw new Error("etcdserver: mvcc: database space exceeded");
    }
    const holds = ({ target, key, value }: Compare) =>
      target === "CREATE" ? !this.values.has(key) : this.values.get(key) === value;
    if (!compare.every(holds)) return { header: { revision: String(this.#revision) } };
    for (const { request_put: put, request_delete_range: range } of success) {
      if (put) this.values.set(put.key, put.value);
      for (const key of range ? this.values.keys() : []) if (range && isIn(key, range)) this.values.delete(key);
    }
    this.#kept += size;
    this.file = Math.max(this.file, this.#kept);
    return { header: { revision: String(++this.#revision) }, succeeded: true };
  }

  #used(): number {
    return [...this.values].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  }
}

function isIn(key: string, range: { readonly key: string; readonly range_end?: string }): boolean {
  const [name, from, to] = [key, range.key, range.range_end ?? ""].map((each) =>
    Buffer.from(each, "base64").toString(),
  );
  return to === "" ? name === from : (name ?? "") >= (from ?? "") && (name ?? "") < (to ?? "");
}

/** Serves it as etcd does, as that of one control plane. */
export async function serveEtcd(
  etcd: Pick<LimitedEtcd, "answer">,
): Promise<{ keyspace: Keyspace; close(): Promise<void> }> {
  const authority = await createAuthority({ commonName: "etcd-ca", lifetime: 3600_000 });
  const subject = { commonName: "etcd", dnsNames: ["localhost"], usages: ["server"] as const, lifetime: 3600_000 };
  const issued = await issueCertificate(authority, subject);
  const server = createServer({ cert: issued.certificate, key: issued.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      try {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
        response.end(JSON.stringify(etcd.answer((request.url ?? "").slice("/v3/".length), body)));
      } catch (error) {
        response.writeHead(400).end(JSON.stringify({ message: (error as Error).message }));
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const access = { addresses: ["127.0.0.1"], port, serverName: "localhost", authority, password: "" };
  return {
    keyspace: { access, prefix: "/" },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
