// The baseline of the HTTP workloads: a minimal server with Express and pg, without history, validation and access
// rules. It sends the same rows as Palimpsest from its own table.
import express from 'express';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 25 });
const app = express();
app.set('query parser', 'extended');
app.use(express.json());

const columns = 'a.id, a.title, a.category, a.rating, a.body, a.author_id, a._version, a._created_at, a._updated_at';
type Row = {
  id: string;
  title: string;
  category: string;
  rating: number;
  body: string;
  author_id: string;
  author?: object;
  _version: string;
  _created_at: Date;
  _updated_at: Date;
};

function entry(row: Row) {
  const { id, title, category, rating, body, author_id, author, _version, _created_at, _updated_at } = row;
  return {
    id,
    schema_name: 'article',
    data: { title, category, rating, body, author_id, author },
    version: Number(_version),
    created_at: _created_at,
    updated_at: _updated_at,
  };
}

app.get('/article/:id', async (request, response) => {
  const { rows } = await pool.query<Row>(`select ${columns} from bare.article a where a.id = $1`, [request.params.id]);
  if (rows[0]) response.json(entry(rows[0]));
  else response.sendStatus(404);
});

app.get('/article', async (request, response) => {
  response.json((await list(request.query)).map(entry));
});

async function list({ category, populate, q }: express.Request['query']): Promise<readonly Row[]> {
  const order = 'order by a._created_at desc, a.id limit 25';
  if (typeof category === 'string')
    return (
      await pool.query<Row>(
        `select ${columns} from bare.article a where category = $1 order by rating desc, id limit 25`,
        [category],
      )
    ).rows;
  if (typeof q === 'string')
    return (
      await pool.query<Row>(
        `select ${columns} from bare.article a where words @@ websearch_to_tsquery('simple', $1) ${order}`,
        [q],
      )
    ).rows;
  if (populate === 'author') {
    const author = `case when u.id is not null then json_build_object('id', u.id, 'data',
      json_build_object('name', u.name, 'bio', u.bio)) end as author`;
    return (
      await pool.query<Row>(
        `select ${columns}, ${author} from bare.article a left join bare.author u on u.id = a.author_id ${order}`,
      )
    ).rows;
  }
  return (await pool.query<Row>(`select ${columns} from bare.article a ${order}`)).rows;
}

app.post('/article', async (request, response) => {
  const { title, category, rating, body } = (request.body as { data: Row }).data;
  const { rows } = await pool.query<Row>(
    `insert into bare.article as a (id, title, category, rating, body) values ($1, $2, $3, $4, $5)
     returning ${columns}`,
    [randomUUID(), title, category, rating, body],
  );
  response.status(201).json(entry(rows[0] as Row));
});

app.put('/article/:id', async (request, response) => {
  const { title } = (request.body as { data: Row }).data;
  const { rows } = await pool.query<Row>(
    `update bare.article a set title = $2, _version = _version + 1, _updated_at = now() where id = $1
     returning ${columns}`,
    [request.params.id, title],
  );
  if (rows[0]) response.json(entry(rows[0]));
  else response.sendStatus(404);
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening ${(server.address() as AddressInfo).port}`);
});
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
  void pool.end();
});
