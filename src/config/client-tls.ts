/** What this process trusts and presents as a TLS client, in PEM, under the names of Node's TLS options. */
export interface ClientTls {
  /** Certificates of the only authorities that are trusted; left out: those that Node trusts. */
  readonly ca?: string;
  /** Certificate that is presented to a server that asks for one, with its chain; never without `key`. */
  readonly cert?: string;
  /** Private key of `cert`. */
  readonly key?: string;
}
