/**
 * Why a definition is none. `transport` marks the reasons that answer 422 on every route (spec 1, transports); the others answer by the
 * verb (spec 4 B).
 */
export class InvalidDefinition extends Error {
  readonly reason: string;
  readonly kind: 'definition' | 'transport';

  constructor(reason: string, kind: 'definition' | 'transport' = 'definition') {
    super(reason);
    this.name = 'InvalidDefinition';
    this.reason = reason;
    this.kind = kind;
  }
}
