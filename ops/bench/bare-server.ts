// What a team would write by hand: Express and pg, no history, no checks, no access rules. It sends the rows that Palimpsest sends,
// from a table of its own that holds the same. The yardstick of the HTTP workloads.
import express from 'express';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 25 });
const app = express();
app.set('query parser', 'extended');
app.use(express.json());

const columns = 'id, title, category, rating, body, _version, _created_at, _updated_at';
type Row = { id: string; title: string; category: string; rating: number; body: string; _version: string; _created_at: Date; _updated_at: Date };

function entry(row: Row) {
  const { id, title, category, rating, body, _version, _created_at, _updated_at } = row;
  return { id, schema_name: 'article', data: { title, category, rating, body }, version: Number(_version), created_at: _created_at, updated_at: _updated_at };
}

app.get('/article/:id', async (request, response) => {
  const { rows } = await pool.query<Row>(`select ${columns} from bare.article where id = $1`, [request.params.id]);
  if (rows[0]) response.json(entry(rows[0]));
  else response.sendStatus(404);
});

app.get('/article', async (request, response) => {
  const { category } = request.query;
  const { rows } =
    typeof category === 'string'
      ? await pool.query<Row>(`select ${columns} from bare.article where category = $1 order by rating desc, id limit 25`, [category])
      : await pool.query<Row>(`select ${columns} from bare.article order by _created_at desc, id limit 25`);
  response.json(rows.map(entry));
});

app.post('/article', async (request, response) => {
  const { title, category, rating, body } = (request.body as { data: Row }).data;
  const { rows } = await pool.query<Row>(
    `insert into bare.article (id, title, category, rating, body) values ($1, $2, $3, $4, $5) returning ${columns}`,
    [randomUUID(), title, category, rating, body],
  );
  response.status(201).json(entry(rows[0] as Row));
});

app.put('/article/:id', async (request, response) => {
  const { title } = (request.body as { data: Row }).data;
  const { rows } = await pool.query<Row>(
    `update bare.article set title = $2, _version = _version + 1, _updated_at = now() where id = $1 returning ${columns}`,
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
