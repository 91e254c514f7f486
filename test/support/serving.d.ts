import { type KeyPair } from "@causeway/foundation";
/** A certificate for a day, for a server of this machine's own: localhost and 127.0.0.1. */
export declare const servingOnLoopback: (authority: KeyPair, commonName: string) => Promise<KeyPair>;
