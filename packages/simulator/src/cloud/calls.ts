import type { CallRecord } from "../interface.ts";

/** Maximum number of records; beyond it the oldest fifth is dropped and `sequence` continues. */
const KEPT = 50_000;

/** The log of requests. */
export class CallLog {
  readonly records: CallRecord[] = [];
  #sequence = 0;

  add(call: Omit<CallRecord, "sequence" | "status">): CallRecord {
    if (this.records.length >= KEPT) this.records.splice(0, KEPT / 5);
    const record: CallRecord = { sequence: ++this.#sequence, ...call, status: 0 };
    this.records.push(record);
    return record;
  }

  clear(): void {
    this.records.length = 0;
  }
}
