import type { CertificateSubject, KeyPair } from "@causeway/foundation";
import type { RestoreSpec } from "../backup-spec.ts";
import type { Keyspace } from "../backup/datastore.ts";
import type { EtcdAccess, EtcdUser } from "../etcd/etcd-admin.ts";
import type { KubeObject, Pod, Secret } from "@causeway/kubernetes";
import type { Step as AcknowledgeStep } from "./hand-over/steps.ts";
import type { MigrationRecord } from "./migration/record.ts";
import type { EtcdWanted } from "./migration/served.ts";
import type { EtcdAuthorityStage } from "./plan-etcd-authority.ts";

/** One file, or pair of files, of a Secret. */
export type Entry =
  | { readonly type: "text"; readonly file: string; readonly text: string }
  /** FILE.crt and FILE.key. */
  | {
      readonly type: "certificate";
      readonly file: string;
      readonly authority: KeyPair;
      readonly subject: CertificateSubject;
      readonly usages: readonly ("client" | "server")[];
    }
  | {
      readonly type: "kubeconfig";
      readonly file: string;
      readonly authority: KeyPair;
      /** PEM certificates that the server's certificate is verified with. */
      readonly trusted: string;
      readonly user: string;
      readonly server: string;
    }
  /** A new root: FILE.crt and FILE.key. */
  | { readonly type: "authority"; readonly file: string; readonly commonName: string }
  | { readonly type: "password"; readonly file: string }
  /** A configuration of encryption at rest with a new key. */
  | { readonly type: "encryption"; readonly file: string }
  /** The one of a backup. */
  | { readonly type: "restored-encryption"; readonly file: string; readonly from: RestoreSpec };

/** A Secret whose content is made when it is written. */
export interface Credentials {
  readonly name: string;
  readonly entries: readonly Entry[];
  /** Of the entries, without what is new each time. */
  readonly inputs: string;
  /** It is created once and never written again. */
  readonly once: boolean;
}

/**
 * Of the move to an own etcd. `replaces`: the resource version of the record; another leader that was faster defeats
 * the step.
 */
export type MigrationStep =
  /** Chooses the revision of the own etcd, and records that it begins. */
  | {
      readonly type: "begin-migration";
      readonly access: EtcdAccess;
      readonly record: EtcdWanted & Pick<MigrationRecord, "attempt" | "failures" | "failure" | "retryAt">;
      readonly replaces?: string;
    }
  | { readonly type: "record-migration"; readonly record: MigrationRecord; readonly replaces?: string }
  /** Copies all data while clients write. */
  | {
      readonly type: "copy-datastore";
      readonly record: MigrationRecord;
      readonly from: Keyspace;
      readonly to: Keyspace;
    }
  /** Refuses writes, copies the last changes, compares, and lets no copy write any more. */
  | {
      readonly type: "freeze-datastore";
      readonly record: MigrationRecord;
      readonly from: Keyspace;
      readonly to: Keyspace;
      /** Its storage budget does not let it write. */
      readonly sealed: boolean;
      readonly replaces?: string;
    }
  /** Accepts writes again. `reopen`: copies may write there again. */
  | {
      readonly type: "thaw-datastore";
      readonly record: MigrationRecord;
      readonly from: Keyspace;
      readonly reopen?: Keyspace;
      /** Its storage budget does not let it write. */
      readonly sealed: boolean;
    }
  | { readonly type: "end-pods"; readonly pods: readonly Pod[]; readonly seconds: number }
  /** Verifies that nothing was written to the shared etcd since the comparison, and records who serves. */
  | {
      readonly type: "switch-datastore";
      readonly record: MigrationRecord;
      readonly from: Keyspace;
      readonly to: Keyspace;
      readonly replaces?: string;
    }
  | {
      readonly type: "remove-shared-data";
      readonly record: MigrationRecord;
      readonly access: EtcdAccess;
      readonly user: EtcdUser;
    };

/** What plan may return, for a control plane or for the shared etcd. */
export type Step =
  | AcknowledgeStep
  /** Refused if it exists and is another's. */
  | { readonly type: "apply-namespace"; readonly object: KubeObject }
  /** `replaces`: the resource version of the Secret that it takes the place of; another version is left alone. */
  | { readonly type: "issue"; readonly id: string; readonly credentials: Credentials; readonly replaces?: string }
  /** Creates a Secret with the content of another one. */
  | {
      readonly type: "copy";
      readonly id: string;
      readonly name: string;
      readonly data: Readonly<Record<string, string>>;
      /** Of its rotation, and how often it was changed. */
      readonly annotations: Readonly<Record<string, string>>;
    }
  /** Writes the content of the one that was changed last into the other one. */
  | { readonly type: "follow"; readonly id: string; readonly secret: Secret; readonly from: Secret }
  /** Brings the copy of etcd's authority to a stage, in one write that another one in the meantime defeats. */
  | {
      readonly type: "rotate-etcd-authority";
      readonly secret: Secret;
      readonly to: EtcdAuthorityStage;
      readonly rotation: string;
    }
  | { readonly type: "apply"; readonly id: string; readonly object: KubeObject }
  | { readonly type: "delete"; readonly id: string; readonly object: KubeObject }
  | { readonly type: "enable-auth"; readonly access: EtcdAccess }
  | { readonly type: "ensure-etcd-user"; readonly access: EtcdAccess; readonly user: EtcdUser }
  /** Adds a member that receives all data and has no vote. */
  | { readonly type: "add-etcd-member"; readonly access: EtcdAccess; readonly peerUrl: string }
  /** Gives it a vote, as soon as it has all data. */
  | { readonly type: "promote-etcd-member"; readonly access: EtcdAccess; readonly id: string }
  | { readonly type: "move-etcd-leader"; readonly access: EtcdAccess; readonly to: string }
  | { readonly type: "remove-etcd-member"; readonly access: EtcdAccess; readonly id: string }
  /** Writes the data of a backup, before the first API server starts. */
  | { readonly type: "restore"; readonly from: RestoreSpec; readonly keyspace: Keyspace }
  | MigrationStep
  /** Creates in the tenant what machines need to join, at addresses that the service cluster assigned. */
  | {
      readonly type: "create-join-objects";
      readonly server: string;
      /** The URL, and which roots are published. */
      readonly mark: string;
      /** URLs that lead to its API servers. */
      readonly addresses: readonly string[];
    };
