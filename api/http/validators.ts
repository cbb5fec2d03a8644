import type { TSchema } from '@sinclair/typebox';
import type { AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';

/** One reason why a value was refused. `field` is dotted; empty: the value itself. */
export type Problem = { readonly field: string; readonly message: string; readonly keyword: string };

/** Checks a value; coerces and fills in defaults in place. @returns nothing when it passes, else why not. */
export type Check = (value: unknown) => readonly Problem[] | undefined;

const MAX_PROBLEMS = 100;

const STRICT = { strictSchema: true, strictNumbers: true, strictTypes: false, strictTuples: false, strictRequired: false, useDefaults: true } as const;

/** Values that arrive as text: query and path. */
const coercing = withFormats(new Ajv({ ...STRICT, coerceTypes: 'array' }));
const exact = withFormats(new Ajv(STRICT));
/** Names every problem of a small body; the first look stops at one, so that a huge hostile body costs little. */
const thorough = withFormats(new Ajv({ ...STRICT, allErrors: true }));

/** Check of query or path parameters. */
export function compileCoercing(schema: TSchema): Check {
  const validate = compile(coercing, schema);
  return (value) => (validate(value) ? undefined : problemsOf(validate.errors));
}

/** Check of a JSON body. `bytes`: how long its text was. */
export function compileBody(schema: TSchema): (value: unknown, bytes: number) => readonly Problem[] | undefined {
  const validate = compile(exact, schema);
  let all: ValidateFunction | undefined;
  return (value, bytes) => {
    if (validate(value)) return undefined;
    if (bytes > 65_536) return problemsOf(validate.errors);
    all ??= compile(thorough, schema);
    all(value);
    return problemsOf(all.errors ?? validate.errors);
  };
}

function compile(ajv: Ajv, schema: TSchema): ValidateFunction {
  const plain: AnySchemaObject = schema;
  return ajv.compile(plain);
}

function withFormats(ajv: Ajv): Ajv {
  formats(ajv);
  return ajv;
}

function problemsOf(errors: readonly ErrorObject[] | null | undefined): readonly Problem[] {
  const problems = (errors ?? []).slice(0, MAX_PROBLEMS).map(toProblem);
  return problems.length > 0 ? problems : [{ field: '', message: 'is invalid', keyword: '' }];
}

function toProblem(error: ErrorObject): Problem {
  const at = error.instancePath.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty }: { missingProperty?: unknown; additionalProperty?: unknown } = error.params;
  if (typeof missingProperty === 'string') return { field: [...at, missingProperty].join('.'), message: 'is required', keyword: error.keyword };
  if (typeof additionalProperty === 'string') return { field: [...at, additionalProperty.slice(0, 100)].join('.'), message: 'is not known', keyword: error.keyword };
  return { field: at.join('.'), message: error.message ?? 'is invalid', keyword: error.keyword };
}
